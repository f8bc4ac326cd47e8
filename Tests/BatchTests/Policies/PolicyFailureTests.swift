import Foundation
import Streams
import Testing

@testable import MappingModels
@testable import Migrations
@testable import RunSupport

/// Fails in one of its calls, as the mapping's user info tells.
struct FailingPolicy: EntityMigrationPolicy {
  struct Failure: Error {}
  let createsRelationships = true

  private func fail(_ call: String, _ mapping: EntityMapping, _ manager: MigrationManager) throws {
    switch mapping.userInfo[call] {
    case "throw": throw Failure()
    case "cancel": manager.cancelMigration(with: Failure())
    case "find": _ = try manager.find("Tag", where: "word", is: .text("x"))
    case "abstract": _ = try manager.insert(entity: "Nothing")
    default: break
    }
  }

  func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws { try fail("begin", mapping, manager) }
  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let object = try manager.createDestinationInstance(forSource: source, in: mapping)
    guard source.key == 3 else { return }
    try fail("create", mapping, manager)
    switch mapping.userInfo["create"] {
    case "twice": _ = try manager.createDestinationInstance(forSource: source, in: mapping)
    case "attribute": try object.set("nonsense", "x")
    case "relationship": try object.set("word", to: object)
    case "entity": try object.set("order", to: object)
    case "source": _ = try source.value("nonsense")
    case "reject": throw manager.rejection(of: source, "it has no order")
    default: break
    }
  }
  func createRelationships(
    forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard destination.key == 3 else { return }
    try fail("relationships", mapping, manager)
    if mapping.userInfo["relationships"] == "read" { _ = try destination.value("sku") }
  }
  func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try fail("validation", mapping, manager)
  }
}

/// What a policy does wrong is reported with the entity and the key concerned; the source stays as it was.
@Suite struct PolicyFailureTests {
  @Test(
    "A failing policy names entity and key, and nothing is changed",
    arguments: [
      ("create", "throw", Int64?(3), "policy"), ("create", "find", 3, "look-up"), ("create", "abstract", 3, "Nothing"),
      ("create", "twice", 3, "one destination object"), ("create", "attribute", 3, "nonsense"),
      ("create", "relationship", 3, "word"), ("create", "entity", 3, "order"), ("create", "source", 3, "nonsense"),
      ("relationships", "throw", 3, "policy"), ("relationships", "read", 3, "already written"),
      ("create", "reject", 3, "refuses the object: it has no order"), ("create", "cancel", 3, "policy"),
      ("relationships", "cancel", 3, "policy"), ("begin", "cancel", nil, "policy"), ("begin", "throw", nil, "policy"),
      ("validation", "throw", nil, "policy"),
    ])
  func failure(call: String, way: String, key: Int64?, text: String) throws {
    let line = PolicyModels.entity(
      "Line", ["sku", "quantity"], ["order", "tags"], policy: FailingPolicy.self, info: [call: way])
    let rest = [PolicyModels.entity("Order", ["number"], ["lines"]), PolicyModels.entity("Tag", ["word"], ["lines"])]
    let folder = try MigrationFolder(
      [PolicyModels.first, PolicyModels.second], mappings: [PolicyModels.model("All", [line] + rest)],
      policies: [FailingPolicy.self])
    let store = try folder.sample("P1", rows: 40, seed: 1)
    let bytes = try MigrationFolder.bytes(store)
    let error = #expect(throws: BatchError.self) { try folder.migrate(folder.request(store)) }
    #expect(
      error?.code == .policyFailed && error?.entity == "Line" && error?.key == key, "\(String(describing: error))")
    #expect(error?.message.contains(text) == true, "\(String(describing: error))")
    #expect(try MigrationFolder.bytes(store) == bytes)
  }

  @Test("A policy that the program does not have is named before anything is written (trap 1)")
  func missing() throws {
    let folder = try MigrationFolder([PolicyModels.first, PolicyModels.second], mappings: PolicyModels.mappings)
    let store = try folder.sample("P1", rows: 10, seed: 1)
    let before = try MigrationFolder.tree(folder.path)
    let error = #expect(throws: BatchError.self) { try folder.migrate(folder.request(store)) }
    #expect(error?.code == .missingPolicy && error?.message.contains("LinePolicy") == true)
    #expect(try MigrationFolder.tree(folder.path) == before)
  }
}
