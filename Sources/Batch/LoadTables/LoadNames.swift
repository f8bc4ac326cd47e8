/// Names that people expect in databases.
package enum LoadNames {
  /// `bookAuthor` and `BookAuthor` become `book_author`, `imageURL` `image_url`, `URLString` `url_string`.
  package static func snakeCase(_ name: String) -> String {
    let letters = Array(name)
    var text = ""
    for (index, letter) in letters.enumerated() {
      guard letter.isLetter || letter.isNumber else {
        if text.last != "_" { text += "_" }
        continue
      }
      if letter.isUppercase, index > 0, text.last != "_" {
        let followsSmall = !letters[index - 1].isUppercase
        let precedesSmall = index + 1 < letters.count && letters[index + 1].isLowercase
        if followsSmall || precedesSmall { text += "_" }
      }
      text += letter.lowercased()
    }
    return text
  }
}
