import Foundation
import Testing

@Suite("The cookbook")
struct CookbookTests {
  private static let mappings = ExampleFolder.root + "/Examples/Mappings/"

  private static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test("It has sixteen recipes, whose mappings are files of the examples that a test runs")
  func recipes() throws {
    let text = try Self.text(ExampleFolder.root + "/docs/manual/cookbook.md")
    let recipes = text.components(separatedBy: "\n## ").dropFirst()
    #expect(recipes.enumerated().allSatisfy { $1.hasPrefix("\($0 + 1). ") } && recipes.count == 16)
    let tests = try [
      "CommandTests/MappingFileExampleTests", "BatchTests/Policies/TimesExampleTests",
      "BatchTests/Policies/RuleExampleTests",
    ].map {
      try Self.text("\(ExampleFolder.root)/Tests/\($0).swift")
    }.joined()
    var files = 0
    for recipe in recipes {
      let blocks = recipe.components(separatedBy: "```yaml\n").dropFirst().compactMap {
        $0.components(separatedBy: "```").first
      }
      let names = recipe.matches(of: /\(\.\.\/\.\.\/Examples\/Mappings\/([^)]+\.yaml)\)/).map { String($0.output.1) }
      #expect(blocks.count == names.count)
      for (block, name) in zip(blocks, names) {
        #expect(try block == Self.text(Self.mappings + name), "\(name)")
        let folder = name.split(separator: "/").count > 1 ? String(name.split(separator: "/")[0]) + "\"" : name
        #expect(tests.contains("/\(folder)"), "no test runs \(name)")
        files += 1
      }
      #expect(recipe.contains("```sh\ngodwit migrate ") || recipe.contains("\ngodwit migrate "))
    }
    #expect(files == 17)
  }
}
