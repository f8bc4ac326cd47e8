import Foundation
import Testing

@testable import CoreDataModel
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Relationships of hierarchies: a kind of object goes, or the relationship no longer takes it.
@Suite("Links of a hierarchy of which a part goes")
struct NarrowedLinkTests {
  /// How a relationship between Item, above Photo and Video, and another entity is declared.
  struct Shape: CustomStringConvertible {
    var description: String
    var many: Bool
    var backMany: Bool?
    /// The name of the other entity: before Item in the order of names, or behind it.
    var other = "Tag"
  }

  private static let shapes = [
    Shape(description: "many-to-many", many: true, backMany: true),
    Shape(description: "many-to-many, named by the other side", many: true, backMany: true, other: "Album"),
    Shape(description: "one-to-many", many: true, backMany: false),
    Shape(description: "many-to-one", many: false, backMany: true),
    Shape(description: "one-to-one", many: false, backMany: false),
    Shape(description: "to-many without inverse", many: true, backMany: nil),
    Shape(description: "to-one without inverse", many: false, backMany: nil),
  ]

  /// `owner` declares the relationship to the other entity, whose inverse leads to it; `fans` lead from the other entity
  /// to `liked` alone.
  private static func model(
    _ name: String, _ shape: Shape, owner: String = "Item", liked: String = "Item",
    kinds: [String] = ["Photo", "Video"]
  ) -> ManagedObjectModel {
    let link = StoreModels.link("link", shape.other, shape.backMany.map { _ in "back" }, many: shape.many)
    let back = shape.backMany.map { StoreModels.link("back", owner, "link", many: $0) }
    let fan = StoreModels.link("fans", liked, nil, many: true)
    let favorite = StoreModels.link("favorite", liked, nil)
    func own(_ entity: String) -> [RelationshipDescription] { entity == owner ? [link] : [] }
    return ManagedObjectModel(
      name: name,
      entities: [
        StoreModels.entity("Item", [("title", .string)] + (name == "A" ? [] : [("note", .string)]), own("Item"))
      ] + kinds.map { StoreModels.entity($0, parent: "Item", [], own($0)) }
        + [StoreModels.entity(shape.other, [("word", .string)], [back].compactMap { $0 } + [fan, favorite])])
  }

  private static func expected(_ before: OracleGraph, as model: ManagedObjectModel) -> OracleGraph {
    var expected = before
    expected.model = model
    expected.objects = before.objects.filter { model.entity($0.key.entity) != nil }
    let kept = Set(expected.objects.keys)
    for (key, object) in expected.objects {
      expected.objects[key]?.links = Dictionary(
        uniqueKeysWithValues: object.links.compactMap { name, targets in
          guard let relationship = model.relationship(name, of: key.entity) else { return nil }
          return (
            name, targets.filter { kept.contains($0) && model.isKind($0.entity, of: relationship.destinationEntity) }
          )
        })
    }
    return expected
  }

  /// Migrates, and holds the result against the store without the objects and links that do not go along.
  private static func compare(
    _ old: ManagedObjectModel, _ new: ManagedObjectModel, mapping: String? = nil, accepts: Bool = true
  ) throws -> MigrationJob.Report {
    let folder = try MigrationFolder([old, new])
    let store = try folder.sample("A", rows: 600, seed: 3)
    let before = try OracleStore.read(store, model: folder.model("A"))
    var request = folder.request(store, output: try folder.place("new"))
    if !accepts { request.consent = LossConsent() }
    if let mapping {
      let file = "\(folder.path)/mapping.yaml"
      try Data("from: A\nto: B\nentities:\n\(mapping)\n".utf8).write(to: URL(fileURLWithPath: file))
      request.mappings = [file]
    }
    let plan = try folder.job().plan(request, for: .plan)
    let report = try folder.migrate(request)
    #expect(report.isVerified)
    let expected = try expected(before, as: folder.model("B"))
    let found = try OracleStore.read(folder.place("new"), model: folder.model("B"))
    #expect(found.differences(expected) == [])
    let account = try #require(report.accounts.first?.versions.first)
    #expect(plan.accounts.first?.balance == account.balance)
    #expect(links(account) == links(in: found), "\(account.balance ?? "")")
    return report
  }

  /// Links that an account says are carried; each pair of inverses is counted once.
  private static func links(_ account: VersionAccount) -> UInt64 {
    account.lines.filter { $0.kind == .relationship && $0.holdsData && !$0.isGone }.reduce(0) { $0 + $1.share }
  }

  private static func links(in graph: OracleGraph) -> UInt64 {
    var count: UInt64 = 0
    for (key, object) in graph.objects {
      for (name, targets) in object.links {
        // A to-one counts for its to-many, and both sides of a one-to-one count.
        guard let relationship = graph.model.relationship(name, of: key.entity) else { continue }
        let back = relationship.inverseName.flatMap {
          graph.model.relationship($0, of: relationship.destinationEntity)
        }
        guard !relationship.isToMany || back == nil || back?.isToMany == true && name == "link" else { continue }
        count += UInt64(targets.count)
      }
    }
    return count
  }

  @Test("A kind of object leaves the model: its links go, all others stay, and are counted", arguments: shapes)
  func gone(shape: Shape) throws {
    _ = try Self.compare(Self.model("A", shape), Self.model("B", shape, kinds: ["Photo"]))
    _ = try Self.compare(
      Self.model("A", shape), Self.model("B", shape, kinds: ["Photo"]),
      mapping: "  - from: [Item, Photo, \(shape.other)]\n  - remove: Video")
  }

  @Test("A relationship moves down to one kind of object: the links of the others are dropped", arguments: shapes)
  func movedDown(shape: Shape) throws {
    // An inferred step has no other destination of a relationship.
    if shape.backMany == nil { _ = try Self.compare(Self.model("A", shape), Self.model("B", shape, owner: "Photo")) }
    _ = try Self.compare(
      Self.model("A", shape), Self.model("B", shape, owner: "Photo"),
      mapping: "  - from: [Item, Photo, Video, \(shape.other)]")
  }

  @Test("A relationship leads to one kind of object alone: links to others are dropped with their count")
  func narrowed() throws {
    let shape = Self.shapes[0]
    let (old, new) = (Self.model("A", shape), Self.model("B", shape, liked: "Photo"))
    let mapping = "  - from: [Item, Photo, Video, Tag]"
    let mapped = try Self.compare(old, new, mapping: mapping)
    #expect(mapped.notes.contains { $0.contains("A to B loses") && $0.contains("links of Tag.fans") })
    let error = try #require(throws: BatchError.self) { try Self.compare(old, new, mapping: mapping, accepts: false) }
    #expect(error.code == .refused && error.message.contains("links of Tag.fans"), "\(error)")
    #expect(error.message.contains("of Tag.favorite") && error.effect == .nothingWritten, "\(error)")
  }
}
