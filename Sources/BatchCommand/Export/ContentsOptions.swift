import ArgumentParser
import Batch

/// What of two stores is compared, and where it is shown.
struct ContentsOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp("With --contents: only objects of this entity's table, and no links.", valueName: "entity"),
    completion: .entities)
  var entity: String?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "With --contents: objects are the same if this attribute is, as a UUID. Default: Z_PK.", valueName: "attribute"))
  var by: String?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "With --contents: list at most this many changes; all are counted. Default: all; on a page \(ContentsPage.mostOfEntity) of an entity, \(ContentsPage.mostOfAll) together.",
      valueName: "count"))
  var limit: UInt64?
  @Option(name: .long, help: .html, completion: .file(extensions: ["html"])) var html: String?
  @Option(name: .long, help: .memory, transform: ByteCount.memory) var memory = ByteCount.standardMemory

  var used: [String] {
    [("--entity", entity != nil), ("--by", by != nil), ("--limit", limit != nil), ("--html", html != nil)].filter(\.1)
      .map(\.0)
  }

  func validate() throws {
    try ReportFile.check(html)
  }
}
