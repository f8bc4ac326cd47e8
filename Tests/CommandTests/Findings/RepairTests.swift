import Foundation
import Testing

@testable import CoreDataModel
@testable import Migrations

@Suite("Stores that contradict their model")
struct RepairTests {
  private static let more = ManyEntities.attribute("more")
  private static let indexed =
    #"<fetchIndex name="byMore"><fetchIndexElement property="more" type="Binary" order="ascending"/></fetchIndex>"#
    + #"<uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints>"#

  /// A store whose tables are those of V1, and whose metadata say another version; its cache holds V1, or nothing.
  private func torn(
    _ versions: [String], claimed: String = "V2", keepsCache: Bool = false
  ) throws -> (folder: FindingFolder, store: String) {
    let folder = try FindingFolder(versions.map { FindingFolder.bin + $0 })
    let (store, other) = (try folder.store("a.sqlite"), folder.file("other.sqlite"))
    try folder.runWell(["sample", folder.models, "--version", claimed, "--rows", "3", "--output", other])
    try folder.execute(
      store,
      """
      ATTACH '\(other)' AS other; DELETE FROM Z_MODELCACHE WHERE \(!keepsCache);
      UPDATE main.Z_METADATA SET Z_PLIST = (SELECT Z_PLIST FROM other.Z_METADATA)
      """)
    try FileManager.default.removeItem(atPath: other)
    return (folder, store)
  }

  @Test("The tables tell the version that metadata deny, and a migration from there keeps all, also when it is killed")
  func fromTables() throws {
    let (folder, store) = try torn([FindingFolder.name, FindingFolder.name + Self.more])
    let refused = try folder.run(["plan", store, "--models", folder.models])
    #expect(refused.code == 0 && refused.output.contains("nothing to do") || refused.code == 30, "\(refused)")
    let found = try expectLook(["identify", store, "--models", folder.models, "--by-tables"], in: folder.folder)
    #expect(found.contains("the tables are those of V1") && found.contains("the metadata say V2"), "\(found)")
    let json = try expectLook(
      ["identify", store, "--models", folder.models, "--by-tables", "--json"], in: folder.folder)
    #expect(try document(json)["versions"] as? [String] == ["V1"])
    let command = try #require(found.split(separator: "\n").last?.components(separatedBy: "godwit ").last)
    #expect(command == "plan \(store) --from-tables --models \(folder.models)")
    let plan = try expectLook(["plan", store, "--from-tables", "--models", folder.models], in: folder.folder)
    #expect(plan.contains("version V1 to V2") && plan.contains("the metadata say V2, but the tables are those of V1"))
    let names = try folder.names(store)
    try folder.kill(
      ["migrate", store, "--from-tables", "--models", folder.models] + FindingFolder.written,
      before: "rename cutover.json")
    let resumed = try folder.run(["resume", store])
    #expect(resumed.code == 0, "\(resumed)")
    #expect(try folder.names(store) == names && folder.isStore(store, at: "V2"))
    try folder.runWell(["verify", store, "--models", folder.models])
    #expect(try folder.run(["report", store]).output.contains("the tables are those of V1"))
    try folder.runWell(["rollback", store])
  }

  @Test("Tables that fit no version, or several, are refused by name; a sound store is migrated as without the option")
  func refusals() throws {
    let renamed = #"<attribute name="name" optional="NO" attributeType="String" defaultValueString=""/>"#
    let (folder, store) = try torn([FindingFolder.name, renamed + Self.more, renamed])
    let several = try folder.run(["plan", store, "--from-tables", "--models", folder.models])
    #expect(several.code == 20 && several.error.contains("the tables fit several versions: V1, V3"), "\(several)")
    try folder.execute(store, "ALTER TABLE ZA ADD COLUMN ZOWN INTEGER")
    let none = try folder.run(["plan", store, "--from-tables", "--models", folder.models])
    #expect(none.code == 20 && none.error.contains("the tables fit no version"), "\(none)")
    let nothing = try folder.run(["identify", store, "--models", folder.models, "--by-tables"])
    #expect(nothing.code == 20 && nothing.output.contains("the tables are those of no version"), "\(nothing)")
    let sound = try folder.store("sound.sqlite")
    let plan = try expectLook(["plan", sound, "--from-tables", "--models", folder.models], in: folder.folder)
    #expect(plan.contains("version V1 to V3") && !plan.contains("the metadata say"), "\(plan)")
    #expect(try folder.run(["plan", sound, "--from-tables", "--identity"]).code == 64)
  }

  @Test("Tables of the target end no run while the metadata deny it: they and the model cache become the model's own")
  func tablesOfTarget() throws {
    for sole in [false, true] {
      let (folder, store) = try torn([FindingFolder.name, FindingFolder.name + Self.more])
      let models = sole ? ["\(folder.models)/V1.xcdatamodel"] : [folder.models, "--to", "V1"]
      let words = [store, "--from-tables", "--models"] + models
      let plan = try folder.run(["plan", "--check"] + words)
      #expect(plan.code == 0 && plan.output.contains("the tables are those of the version already"), "\(plan)")
      let names = try folder.names(store)
      try folder.kill(["migrate"] + words + FindingFolder.written, before: "rename cutover.json")
      try folder.runWell(["resume", store])
      #expect(try folder.names(store) == names && folder.isStore(store, at: "V1"))
      let known = try expectLook(["identify", store, "--models", folder.models], in: folder.folder)
      #expect(known.contains("version V1 of"), "\(known)")
      try folder.runWell(["verify", store, "--verify", "full"])
      let again = try folder.run(["migrate"] + words)
      #expect(again.code == 0 && again.output.contains("nothing to do"), "\(again)")
      try folder.runWell(["migrate", store, "--models", folder.models])
    }
  }

  @Test("Each command that the refusal of several versions names leads to the end, from the version that it says")
  func choices() throws {
    let rule = #"<attribute name="name" optional="NO" attributeType="String" defaultValueString=""/>"#
    for (target, lists) in [("V3", ["V1,V2,V3", "V2,V3"]), ("V2", ["V1,V2", "V2"])] {
      for list in lists {
        let (folder, store) = try torn([FindingFolder.name, rule, rule + Self.more], claimed: "V3")
        let words = [store, "--from-tables", "--models", folder.models, "--to", target]
        if target == "V3" {
          let found = try expectLook(["identify", store, "--by-tables", "--models", folder.models], in: folder.folder)
          let plans = found.matches(of: #/ godwit (plan .+)/#).map { $0.1.split(separator: " ").map(String.init) }
          #expect(plans.map(\.last) == lists, "\(found)")
          for plan in plans { _ = try expectLook(plan, in: folder.folder) }
        }
        for command in ["plan", "migrate"] {
          let refused = try folder.run([command] + words)
          #expect(refused.code == 20, "\(refused)")
          let found = refused.error.matches(of: #/`godwit ([^`]+)`/#).map {
            $0.1.split(separator: " ").map(String.init)
          }
          #expect(found.map(\.last) == lists, "\(refused)")
          guard command == "migrate", let advice = found.first(where: { $0.last == list }) else { continue }
          try folder.kill(advice + FindingFolder.written, before: "rename cutover.json")
          let resumed = try folder.run(["resume", store])
          #expect(
            resumed.code == 0 && resumed.output.contains("the tables are those of \(list.prefix(2))"), "\(resumed)")
        }
        #expect(try folder.isStore(store, at: target))
        try folder.runWell(["verify", store, "--models", folder.models])
      }
    }
  }

  @Test("The model that the store carries is no choice where a version of the library fits")
  func ownModel() throws {
    let rule = #"<attribute name="name" optional="NO" attributeType="String" defaultValueString=""/>"#
    let (folder, store) = try torn([FindingFolder.name, rule, rule + Self.more], claimed: "V3", keepsCache: true)
    let models = ["V2", "V3"].map { "\(folder.models)/\($0).xcdatamodel" }
    let alone = try folder.run(["identify", store, "--by-tables", "--models", models[1]])
    #expect(alone.output.contains("the tables are those of the model that the store carries"), "\(alone)")
    let found = try expectLook(["identify", store, "--by-tables", "--models"] + models, in: folder.folder)
    #expect(found.contains("the tables are those of V2") && !found.contains("the store carries"), "\(found)")
    try folder.runWell(["migrate", store, "--from-tables", "--versions", "V2,V3", "--models"] + models)
    #expect(try folder.isStore(store, at: "V3"))
  }

  /// A store of a version with an index and a constraint, without both.
  private func bare() throws -> (folder: FindingFolder, store: String) {
    let folder = try FindingFolder([
      FindingFolder.name + Self.more + Self.indexed, FindingFolder.name + Self.more + Self.indexed + FindingFolder.bin,
    ])
    let store = try folder.sample("a.sqlite")
    try folder.execute(
      store, "UPDATE ZA SET ZNAME = 'name ' || Z_PK; DROP INDEX Z_A_byMore; DROP INDEX Z_A_UNIQUE_name")
    return (folder, store)
  }

  private static func indexes(_ folder: FindingFolder, _ store: String) throws -> [String] {
    try folder.texts(store, "SELECT name FROM sqlite_master WHERE type = 'index' AND sql NOT NULL ORDER BY name")
  }

  @Test("verify names a missing index and a missing constraint; the command that it prints makes them")
  func missing() throws {
    let (folder, store) = try bare()
    let found = try folder.run(["verify", store])
    #expect(found.code == 0 && found.output.contains("the index Z_A_byMore of the model is missing"), "\(found)")
    #expect(found.output.contains("the uniqueness constraint Z_A_UNIQUE_name of the model is missing"))
    let advice = try #require(found.output.split(separator: "\n").last?.components(separatedBy: "godwit ").last)
    #expect(advice == "migrate \(store) --identity")
    let plan = try expectLook(["plan", store, "--identity"], in: folder.folder)
    #expect(plan.contains("the index Z_A_byMore of the model, which the store lacks, is made"), "\(plan)")
    let names = try folder.names(store)
    try folder.runWell(["migrate", store, "--identity"])
    #expect(try Self.indexes(folder, store) == ["Z_A_UNIQUE_name", "Z_A_byMore"])
    #expect(try folder.texts(store, "SELECT integrity_check FROM pragma_integrity_check") == ["ok"])
    #expect(try folder.names(store) == names)
    #expect(try !folder.run(["verify", store, "--verify", "full"]).output.contains("missing"))
  }

  @Test("A migration to the next version makes them, too")
  func next() throws {
    let (folder, store) = try bare()
    try folder.runWell(["migrate", store, "--models", folder.models])
    #expect(try Self.indexes(folder, store) == ["Z_A_UNIQUE_name", "Z_A_byMore"])
  }

  @Test("Objects that break a missing constraint are named before anything is written, in an identity migration, too")
  func duplicates() throws {
    let (folder, store) = try bare()
    try folder.execute(store, "UPDATE ZA SET ZNAME = 'same' WHERE Z_PK < 3")
    for command in ["plan", "migrate"] {
      let outcome = try folder.run([command, store, "--identity"])
      #expect(outcome.code == 20 && outcome.error.contains("1 object has the same name as another one"), "\(outcome)")
    }
    #expect(!folder.exists(store + ".godwit"))
  }
}
