import Foundation
import Testing

@testable import Batch

@Suite("Objects that are set aside, and the exit code")
struct RejectCommandTests {
  @Test("One too many ends the run with 11, which goes on with more and ends with 10 and the list's path")
  func exitCodes() throws {
    let folder = try CommandFolder()
    let (store, output) = (folder.file("Plain.sqlite"), folder.file("Output.sqlite"))
    let model = ExampleFolder.root + "/Benchmarks/Models/Plain.xcdatamodeld"
    let sample = ["sample", model, "--version", "Plain 2", "--rows", "1000", "--output", store]
    #expect(try folder.run("godwit", sample).code == 0)
    // Back: doubles at the borders of their type do not become integers.
    let migrate = ["migrate", store, "--models", model, "--versions", "Plain 2,Plain 1", "--output", output]
    let over = try folder.run("godwit", migrate + ["--max-rejects", "1"])
    #expect(over.code == 11 && over.error.contains("more than 1 objects cannot be migrated"), "\(over)")
    let done = try folder.run("godwit", ["resume", output, "--max-rejects", "100", "--json"])
    #expect(done.code == 10 && done.output.contains("\(output).rejects-"), "\(done)")
    #expect(try folder.run("godwit", migrate + ["--max-rejects", "many"]).code == 64)
    #expect(try folder.run("godwit", migrate + ["--reject-values"]).code == 64)
  }
}
