import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import RunSupport
@testable import StoreImports

/// Imports by several threads.
@Suite("Threads of an import")
final class ImportWorkersTests {
  private let folder: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("workers-\(UUID().uuidString)").path
    try LocalFileSystem().makeDirectory(folder)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private static let model = ManagedObjectModel(
    name: "Shop",
    entities: [
      StoreModels.entity(
        "Customer", [("firstName", .string), ("age", .integer16)],
        [StoreModels.link("orders", "Order", "customer", many: true, ordered: true)]),
      StoreModels.entity("Order", [("total", .double)], [StoreModels.link("customer", "Customer", "orders")]),
    ])

  private func write(_ name: String, _ lines: [String]) throws -> String {
    let path = folder + "/" + name
    try lines.joined(separator: "\n").write(toFile: path, atomically: false, encoding: .utf8)
    return path
  }

  private func importing(_ inputs: [String], helpers: Int) throws -> (bytes: Data, rejects: [String]) {
    let store = folder + "/\(UUID().uuidString).sqlite"
    var (options, rejects) = (StoreImport.Options(), [String]())
    (options.helpers, options.mostRejects, options.validation) = (helpers, .count(100), .none)
    _ = try StoreImport(model: Self.model, options: options).run(
      inputs, to: store, fileSystem: LocalFileSystem(), monitor: RunMonitor()
    ) { rejects.append("\($0.line): \($0.reason)") }
    return (try Data(contentsOf: URL(fileURLWithPath: store)), rejects)
  }

  @Test("Any number of threads gives the same bytes, and leaves out the same lines in the same order")
  func threads() throws {
    var (lines, table) = ([String](), ["@key,firstName,age"])
    for key in 1...30_000 {
      let wrong = key % 1000 == 777
      lines.append(
        #"{"entity":"Order","key":\#(key % 5 == 0 ? 60_000 - key : key),"attributes":{"total":\#(wrong ? "\"x\"" : "\(key).5")},"relationships":{"customer":\#(key)}}"#
      )
      if key % 7000 == 0 { lines += ["", #"{"entity":"Order","attributes":{"total":0}}"#] }
      table.append("\(key),\(key % 9000 == 0 ? "\"two\nlines\"" : "customer number \(key) of them"),\(key % 90)")
    }
    let inputs = [try write("a.jsonl", lines), try write("Customer.csv", table)]
    let alone = try importing(inputs, helpers: 0)
    #expect(alone.rejects.count == 30)
    #expect(alone.rejects.first == #"777: total is of type double, and "x" is no such value"#)
    for helpers in [1, 3] {
      let together = try importing(inputs, helpers: helpers)
      #expect(together.bytes == alone.bytes && together.rejects == alone.rejects, "\(helpers)")
    }
  }
}
