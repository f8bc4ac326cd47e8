import Foundation
import Streams
import Synchronization
import Testing

@testable import CoreDataModel
@testable import RunSupport
@testable import StoreImports

@Suite("Imports that are asked to stop")
final class ImportStopTests {
  private let folder: String
  private var store: String { folder + "/New.sqlite" }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("stop-\(UUID().uuidString)").path
    try LocalFileSystem().makeDirectory(folder)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// One has an index, and the other none.
  private static let models = [
    ManagedObjectModel(name: "Plain", entities: [StoreModels.entity("Order", [("total", .double)], [])]),
    ManagedObjectModel(
      name: "Shop",
      entities: [
        StoreModels.entity(
          "Order", [("total", .double)], [StoreModels.link("customer", "Customer", "orders")]),
        StoreModels.entity("Customer", [], [StoreModels.link("orders", "Order", "customer", many: true)]),
      ]),
  ]

  private func importing(_ model: ManagedObjectModel, _ input: String, _ files: DyingFileSystem, _ monitor: RunMonitor)
    throws -> Data
  {
    defer { try? FileManager.default.removeItem(atPath: store) }
    _ = try StoreImport(model: model, options: StoreImport.Options()).run(
      [input], to: store, fileSystem: files, monitor: monitor
    ) { _ in }
    return try Data(contentsOf: URL(fileURLWithPath: store))
  }

  @Test("Whatever call a stop comes at, the import ends, or the same one goes on to the same bytes", arguments: models)
  func stops(model: ManagedObjectModel) throws {
    let input = folder + "/Order.jsonl"
    let lines = (1...40).map { #"{"key":\#($0),"attributes":{"total":\#($0)}}"# }
    try lines.joined(separator: "\n").write(toFile: input, atomically: false, encoding: .utf8)
    let files = DyingFileSystem()
    let whole = try importing(model, input, files, RunMonitor())
    var stopped = 0
    for number in 1...files.calls {
      let monitor = RunMonitor()
      do {
        #expect(
          try importing(model, input, DyingFileSystem(hears: { if $0 == number { monitor.requestStop() } }), monitor)
            == whole, "\(number)")
      } catch let error as BatchError {
        #expect(error.code == .stopped, "\(number): \(error)")
        stopped += 1
        #expect(try importing(model, input, DyingFileSystem(), RunMonitor()) == whole, "\(number)")
      }
    }
    #expect(stopped > 5)
  }

  @Test("A checkpoint behind wrong lines alone does not stand for the objects after it")
  func wrongLinesFirst() throws {
    let input = folder + "/Order.jsonl"
    let wrong = (1...3000).map { #"{"key":\#($0),"attributes":{"total":"this is no number"}}"# }
    let good = (1...100).map { #"{"key":\#($0),"attributes":{"total":\#($0)}}"# }
    try (wrong + good).joined(separator: "\n").write(toFile: input, atomically: false, encoding: .utf8)
    var options = StoreImport.Options()
    options.mostRejects = .count(3000)
    let run = StoreImport(model: Self.models[0], options: options)
    func importing(_ monitor: RunMonitor) throws -> Data {
      defer { try? FileManager.default.removeItem(atPath: store) }
      _ = try run.run([input], to: store, fileSystem: LocalFileSystem(), monitor: monitor) { _ in }
      return try Data(contentsOf: URL(fileURLWithPath: store))
    }
    let whole = try importing(RunMonitor())
    let stop = StopAtWriting()
    let error = #expect(throws: BatchError.self) { try importing(stop.monitor) }
    #expect(error?.code == .stopped && error?.effect == .resumable, "\(String(describing: error))")
    #expect(try importing(RunMonitor()) == whole)
  }
}

/// Asks a run to stop as soon as it writes tables.
private final class StopAtWriting: Sendable {
  private let held = Mutex<RunMonitor?>(nil)

  var monitor: RunMonitor {
    let made = RunMonitor(interval: .bytes(100_000)) { [self] progress in
      if progress.activity == "writing" { held.withLock { $0 }?.requestStop() }
    }
    held.withLock { $0 = made }
    return made
  }
}
