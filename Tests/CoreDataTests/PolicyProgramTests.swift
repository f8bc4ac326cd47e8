import Foundation
import RunSupport
import Testing

@testable import PolicyPrograms
@testable import SwiftDataModels

@Suite("Programs of policies", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct PolicyProgramTests {
  private static let source = """
    import CoreData
    #if canImport(UIKit)
    import UIKit
    #endif

    @objc(Shop_ItemPolicy)
    class ItemPolicy: BasePolicy {
      @objc
      dynamic func migrate(for code: NSNumber, team: String?) -> String? { nil }
      @objc(migrateIdentifier) func identifier() -> String { #keyPath(Item.owner.name) }
      @objc func note(_ text: String) {}
      override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
      ) throws {}
      func find() {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
        request.predicate = NSPredicate(format: "name == %@ AND age > 3", "x")
      }
    }

    class Item: NSManagedObject { @NSManaged public var title: String? }

    """

  private func program(_ files: [String: String], _ names: [String]? = nil) throws -> (PolicyProgram, String) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("policies-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, text) in files { try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8) }
    return (try PolicyProgram(sources: names?.map { "\(folder)/\($0)" } ?? [folder]), folder)
  }

  private static let base = "import CoreData\nclass BasePolicy: NSEntityMigrationPolicy {}\n"

  @Test("What Apple's compiler alone knows is taken off, and every line stays where it was")
  func rewriting() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).swift").path
    try Self.source.write(toFile: path, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let file = try PolicyParser.read(path)
    let lines = file.rewritten.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == Self.source.split(separator: "\n", omittingEmptySubsequences: false).count)
    #expect(!file.rewritten.contains("@objc") && !file.rewritten.contains("dynamic"))
    #expect(file.rewritten.contains("func identifier() -> String { \"owner.name\" }"))
    #expect(
      file.rewritten.contains(
        "public var title: String? { get { managed(\"title\") } set { setManaged(newValue, \"title\") } }"))
    #expect(lines[6] == "class ItemPolicy: BasePolicy {")
    #expect(file.foreignImport == nil && file.classes[0].line == 7 && file.classes[0].overridesRelationships)
  }

  @Test("Methods are known by the selectors that Swift gives them, or that they are given")
  func selectors() throws {
    let (program, folder) = try program(["Item.swift": Self.source, "Base.swift": Self.base])
    #expect(program.policies.map(\.name) == ["BasePolicy", "Shop_ItemPolicy"])
    #expect(program.policies[1].functions == ["migrateFor:team:", "migrateIdentifier", "note:"])
    #expect(program.policies[1].source == "\(folder)/Item.swift:7" && program.omissions.isEmpty)
    #expect(SelectorName.of("sum", labels: ["values", nil]) == "sumWithValues::")
    #expect(FetchWords(entities: ["Owner"], attributes: ["name"]).lookups.map(\.attribute) == ["name"])
  }

  @Test("Of a folder, what cannot be compiled is left out with its line; a file without policies is not taken")
  func omissions() throws {
    let other = "import UIKit\nimport CoreData\nclass ViewPolicy: NSEntityMigrationPolicy {}\n"
    let objectiveC = "@implementation X\n@end\n@interface OldPolicy : NSEntityMigrationPolicy\n@end\n"
    let (program, folder) = try program([
      "Base.swift": Self.base, "View.swift": other, "Old.m": objectiveC, "App.swift": "import UIKit\n// Policy\n",
    ])
    #expect(program.policies.map(\.name) == ["BasePolicy"])
    #expect(
      program.omissions.map { "\($0.source) \($0.reason)" } == [
        "\(folder)/View.swift:1 imports UIKit, which is not here",
        "\(folder)/Old.m:3 OldPolicy is written in Objective-C, which is not compiled here",
      ])
  }

  @Test("Sources without a policy that can be compiled are refused with the line of each")
  func refusals() throws {
    let error = #expect(throws: BatchError.self) {
      try program(["View.swift": "import CoreData\nimport UIKit\nclass ViewPolicy: NSEntityMigrationPolicy {}\n"])
    }
    #expect(error?.message.contains("View.swift:2: imports UIKit, which is not here") == true)
    let none = #expect(throws: BatchError.self) { try program(["A.swift": "struct A {}\n"], ["A.swift"]) }
    #expect(none?.message == "there is no class that inherits from NSEntityMigrationPolicy")
  }
}
