import Foundation

/// A model of our own with three versions, for rules that are refused: items of shops, and drafts that version 2 drops.
struct ShopFolder {
  let folder: CommandFolder
  /// The path of the model.
  let models: String

  private static let entities: [(name: String, attributes: [(name: String, type: String)], link: String)] = [
    (
      "Item",
      [
        ("title", "String"), ("millis", "Integer 64"), ("when", "Date"), ("picture", "Binary"),
        ("tags", "Transformable"),
      ],
      "name=\"shop\" maxCount=\"1\" destinationEntity=\"Shop\" inverseName=\"items\" inverseEntity=\"Shop\""
    ),
    (
      "Shop", [("name", "String")],
      "name=\"items\" toMany=\"YES\" destinationEntity=\"Item\" inverseName=\"shop\" inverseEntity=\"Item\""
    ),
  ]
  private static let new = [
    ("day", "String"), ("moment", "Date"), ("id", "UUID"), ("count", "Integer 64"), ("data", "Binary"),
  ]

  init() throws {
    folder = try CommandFolder()
    models = folder.newPath("Shop.xcdatamodeld")
    for (name, identifier) in [("Shop", "1.0"), ("Shop 2", "2.0"), ("Shop 10", "10.0")] {
      let version = "\(models)/\(name).xcdatamodel"
      try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
      try Self.contents(name, identifier).write(toFile: version + "/contents", atomically: true, encoding: .utf8)
    }
    let current =
      "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>Shop 2.xcdatamodel</string></dict></plist>"
    try current.write(toFile: models + "/.xccurrentversion", atomically: true, encoding: .utf8)
  }

  private static func contents(_ version: String, _ identifier: String) -> String {
    let later = version == "Shop" ? [] : new + (version == "Shop 10" ? [("more", "String")] : [])
    var text = "<model documentVersion=\"1.0\" userDefinedModelVersionIdentifier=\"\(identifier)\">"
    for entity in entities {
      text += "<entity name=\"\(entity.name)\">"
      for (name, type) in entity.attributes + (entity.name == "Item" ? later : []) {
        text += "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"\(type)\"/>"
      }
      text += "<relationship optional=\"YES\" deletionRule=\"Nullify\" \(entity.link)/></entity>"
    }
    let draft = "<entity name=\"Draft\"><attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/></entity>"
    return text + (version == "Shop" ? draft : "") + "</model>"
  }

  /// A store of a version with that many objects.
  func store(_ version: String = "Shop", rows: Int = 40) throws -> String {
    let path = folder.newPath("Store.sqlite")
    let made = try folder.run(
      "godwit", ["sample", models, "--version", version, "--rows", "\(rows)", "--output", path, "--quiet"])
    guard made.code == 0 else { throw CommandProcess.Missing(description: "no sample store: \(made.error)") }
    return path
  }

  /// A mapping file of the step to version 2 that says more of Item; `shop` is the entity mapping of Shop.
  func mapping(_ item: String, shop: String = "  - Shop") throws -> String {
    let path = folder.newPath("Map.yaml")
    let text = "from: Shop\nto: Shop 2\nentities:\n\(shop)\n  - remove: Draft\n  - from: Item\n\(item)\n"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  /// What `check`, `plan` and `migrate` say of a mapping file, in that order.
  func outcomes(_ mapping: String, of store: String) throws -> [CommandProcess.Outcome] {
    let words = ["--models", models]
    let run = [store, "--mappings", mapping, "--to", "Shop 2"] + words
    return [
      try folder.run("godwit", ["mapping", "check", mapping] + words),
      try folder.run("godwit", ["plan", "--no-rehearsal"] + run),
      try folder.run("godwit", ["migrate", "--progress", "none", "--output", folder.newPath("New.sqlite")] + run),
    ]
  }
}
