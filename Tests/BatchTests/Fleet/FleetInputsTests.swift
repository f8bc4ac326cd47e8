import Foundation
import Streams
import Testing

@testable import Fleets
@testable import RunSupport

@Suite("What a fleet's plan knows of its models") struct FleetInputsTests {
  private let folder: JobTestFolder
  private let models: String

  init() throws {
    folder = try JobTestFolder()
    models = folder.file("Models")
    let bundle = models + "/A.xcdatamodeld"
    try FileManager.default.createDirectory(atPath: bundle + "/A.xcdatamodel", withIntermediateDirectories: true)
    try write("A.xcdatamodeld/A.xcdatamodel/contents", "<model/>")
    try write("A.xcdatamodeld/.xccurrentversion", "A")
  }

  private func write(_ name: String, _ text: String) throws {
    let path = "\(models)/\(name)"
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try text.write(toFile: path, atomically: true, encoding: .utf8)
  }

  @Test("Contents count, and which version is the current one; hidden files do not")
  func contents() throws {
    let first = try FleetInputs.digest([models])
    try write(".git/objects/pack", "x")
    try write("A.xcdatamodeld/.DS_Store", "x")
    #expect(try FleetInputs.digest([models]) == first)
    try write("A.xcdatamodeld/.xccurrentversion", "B")
    let second = try FleetInputs.digest([models])
    try write("A.xcdatamodeld/A.xcdatamodel/contents", "<model></model>")
    #expect(try Set([first, second, FleetInputs.digest([models])]).count == 3)
  }

  @Test("A file that is larger than models are is refused by its name, and memory is not what helps")
  func large() throws {
    try write("Film", "x")
    try #require(FileHandle(forWritingAtPath: models + "/Film")).truncate(atOffset: 65 << 20)
    let error = #expect(throws: BatchError.self) { try FleetInputs.digest([models]) }
    #expect(error?.code == .refused && error?.path == models + "/Film" && error?.hint == "Name the models themselves")
  }
}
