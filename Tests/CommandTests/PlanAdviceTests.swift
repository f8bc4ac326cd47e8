import Foundation
import Testing

@Suite("Advice of commands that only look")
struct PlanAdviceTests {
  private let shop: ShopFolder

  init() throws { shop = try ShopFolder() }

  private var models: [String] { ["--models", shop.models] }

  /// The command between backticks, without the program's name.
  private func advised(_ outcome: CommandProcess.Outcome) throws -> String {
    let parts = outcome.error.split(separator: "`")
    return try #require(parts.first { $0.hasPrefix("godwit ") }.map(String.init), "\(outcome)")
  }

  @Test("What plan advises is plan again, and leaves the store as it is; migrate advises migrate")
  func losses() throws {
    let store = try shop.store()
    let mapping = try shop.mapping("    filter: title == 'none of them'")
    let words = [store, "--mappings", mapping] + models
    let before = try CommandFolder.bytes(store)
    let planned = try shop.folder.run("godwit", ["plan"] + words)
    let line = try advised(planned)
    #expect(
      planned.code == 20 && line.hasPrefix("godwit plan \(store) ") && line.hasSuffix(" --drop Item"), "\(planned)")
    let pasted = try shop.folder.paste(line)
    #expect(try pasted.code == 0 && CommandFolder.bytes(store) == before, "\(pasted)")
    #expect(try advised(shop.folder.run("godwit", ["migrate"] + words)).hasPrefix("godwit migrate \(store) "))
    let json = try shop.folder.run("godwit", ["plan", "--json"] + words)
    #expect(!(json.output + json.error).contains("godwit migrate"), "\(json)")
  }

  @Test("What is lost where an entity becomes two is given up by the advised commands, and by nothing less")
  func parts() throws {
    let store = try shop.store()
    let sold = """
          filter: millis > 0
        - name: Sold
          from: Item
          to: Shop
          filter: millis <= 0 OR millis == nil
          attributes: { name: $source.title }
      """
    let words = [store, "--mappings", try shop.mapping(sold)] + models
    let line = try advised(shop.folder.run("godwit", ["plan"] + words))
    #expect(line.contains(" --drop ") && line.contains(" Item.when") && !line.contains("Item.title"), "\(line)")
    #expect(try shop.folder.paste(line).code == 0)
    let migrate = try advised(shop.folder.run("godwit", ["migrate"] + words))
    #expect(migrate.hasPrefix("godwit migrate \(store) ") && migrate.contains(" Item.when"), "\(migrate)")
    let migrated = try shop.folder.paste(migrate)
    #expect(migrated.code == 0 && migrated.output.contains("values of Item.when"), "\(migrated)")
  }

  @Test("The way back is advised by plan as a plan")
  func back() throws {
    let store = try shop.store("Shop 2")
    let planned = try shop.folder.run(
      "godwit", ["plan", store, "--to", "Shop", "--accept-loss", "--no-rehearsal"] + models)
    let line = try advised(planned)
    #expect(planned.code == 20 && planned.error.contains("To go back all the same: `godwit plan "), "\(planned)")
    #expect(try shop.folder.paste(line).code == 0)
  }

  @Test("An order that was given is the one that errors speak of, and what it lacks is in the advised one")
  func orders() throws {
    let store = try shop.store()
    func planned(_ versions: String, _ more: [String] = []) throws -> CommandProcess.Outcome {
      try shop.folder.run("godwit", ["plan", store, "--versions", versions, "--no-rehearsal"] + more + models)
    }
    let turned = try planned("Shop 10,Shop 2,Shop", ["--to", "2.0"])
    #expect(
      turned.code == 20 && turned.error.contains("The order that was given: Shop 10, Shop 2, Shop. "), "\(turned)")
    #expect(turned.error.contains("by the order that was given Shop 2 comes before Shop"))
    #expect(
      !turned.error.contains("go back")
        && turned.error.contains("If Shop 2 comes after Shop, name them in that order: "))
    #expect(try shop.folder.paste(advised(turned)).code == 0)
    let lacking = try planned("Shop 2,Shop 10")
    #expect(
      lacking.code == 20 && lacking.error.contains("the store's version Shop is not in the list of versions"),
      "\(lacking)")
    #expect(lacking.error.contains("; versions besides: Shop. With Shop in the list: `godwit plan "))
    let line = try advised(lacking)
    #expect(line.hasSuffix(" --versions 'Shop,Shop 2,Shop 10'"), "\(line)")
    #expect(try shop.folder.paste(line).code == 0)
    let short = try planned("Shop,Shop 2", ["--to", "Shop 10"])
    #expect(short.code == 20 && short.error.contains("the target Shop 10 is not in the list of versions"), "\(short)")
    #expect(try shop.folder.paste(advised(short)).code == 0)
  }

  @Test("A required attribute without values gets the command that begins a mapping file")
  func required() throws {
    let contents = "\(shop.models)/Shop 2.xcdatamodel/contents"
    let text = try String(contentsOfFile: contents, encoding: .utf8)
    try text.replacing("name=\"id\" optional=\"YES\"", with: "name=\"id\"")
      .write(toFile: contents, atomically: true, encoding: .utf8)
    let planned = try shop.folder.run("godwit", ["plan", try shop.store()] + models)
    #expect(planned.code == 20 && planned.error.contains("the required attribute id of Shop 2 would have no value"))
    let line = try advised(planned)
    #expect(line == "godwit mapping init Shop 'Shop 2' --models \(shop.models)", "\(planned)")
    let begun = try shop.folder.paste(line)
    #expect(begun.code == 0 && begun.output.contains("from: Shop\n"), "\(begun)")
  }
}
