import Testing

@testable import LoadTables
@testable import PostgresLoads

@Suite("Names in PostgreSQL") struct PostgresNamesTests {
  @Test(
    "Names become snake case as people write it",
    arguments: [
      ("Book", "book"), ("BookAuthor", "book_author"), ("createdAt", "created_at"), ("imageURL", "image_url"),
      ("URLString", "url_string"), ("remoteID2", "remote_id2"), ("HTTPServer", "http_server"),
      ("already_snake", "already_snake"),
      ("Éclair", "éclair"), ("with space", "with_space"), ("address.street", "address_street"), ("x", "x"),
      ("isbn13Code", "isbn13_code"),
    ])
  func snakeCase(name: String, wanted: String) { #expect(LoadNames.snakeCase(name) == wanted) }

  @Test("What is not a plain name, or is a word of SQL, stands in quotes")
  func quotes() {
    #expect(PostgresNames.quoted("book") == "book")
    #expect(PostgresNames.quoted("user") == "\"user\"")
    #expect(PostgresNames.quoted("ZBOOK") == "\"ZBOOK\"")
    #expect(PostgresNames.quoted("1a") == "\"1a\"")
    #expect(PostgresNames.quoted("a\"; DROP TABLE b") == "\"a\"\"; DROP TABLE b\"")
    #expect(PostgresNames.quoted("") == "\"\"")
    #expect(PostgresNames.literal("it's") == "'it''s'")
  }

  @Test("No name is given twice, and none is longer than PostgreSQL keeps")
  func book() {
    var book = LoadNameBook()
    #expect(book.take("a") == "a")
    #expect(book.take("a", or: ["b"]) == "b")
    #expect(book.take("a") == "a_2")
    #expect(book.take("a") == "a_3")
    let long = String(repeating: "ä", count: 60)
    let names = [book.take(long), book.take(long + "x"), book.take(long)]
    #expect(Set(names).count == 3)
    for name in names { #expect(name.utf8.count <= 63) }
    var columns = LoadNameBook(used: PostgresNames.systemColumns)
    #expect(columns.take("xmin", or: ["item_xmin"]) == "item_xmin" && columns.take("ctid") == "ctid_2")
  }
}
