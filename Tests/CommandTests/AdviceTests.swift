import Foundation
import Streams
import Testing

@testable import BatchCommand
@testable import RunSupport

@Suite("What to do about errors")
struct AdviceTests {
  /// The codes that a file of the sources declares.
  private static func codes(_ path: String) throws -> [String] {
    let text = try String(contentsOfFile: ExampleFolder.root + "/Sources/" + path, encoding: .utf8)
    return text.matches(of: /static let \w+ = Code\((?:description: )?"([a-z-]+)"\)/).map { String($0.output.1) }
  }

  @Test("Every code has an advice for errors that have none of their own, and one that has is not given two")
  func advice() throws {
    let (batch, streams) = (
      try Self.codes("Batch/RunSupport/BatchError.swift"), try Self.codes("Streams/StreamsError.swift")
    )
    #expect(
      batch.count == 16 && streams.count == 9 && Set(batch + streams) == Set(Advice.sentences.keys.map(\.description)))
    for sentence in Advice.sentences.values {
      // As hints do: a sentence, without a stop, for the effect may follow.
      #expect(sentence.first?.isUppercase == true && sentence.last != "." && sentence.count > 20, "\(sentence)")
    }
    #expect(Advice.hint(for: BatchError(.badModel, "no"))?.hasPrefix("Open the model") == true)
    #expect(Advice.hint(for: BatchError(.badModel, "no", hint: "Do that")) == nil)
    let cause = StreamsError(.diskFull, "no", hint: "Make room")
    #expect(Advice.hint(for: BatchError(.failed, "no", cause: cause)) == nil)
    #expect(Advice.hint(for: BatchError(wrapping: StreamsError(.diskFull, "no")))?.hasPrefix("Make room") == true)
  }

  @Test("Every kind of error has an exit code of its own, but for those that are meant to end with 1")
  func exitCodes() throws {
    let codes = try Self.codes("Batch/RunSupport/BatchError.swift") + Self.codes("Streams/StreamsError.swift")
    let failures = codes.filter { BatchError.Code($0).exitCode == 1 }
    #expect(Set(failures) == ["failed", "policy-failed", "input-output", "order"], "\(failures)")
  }

  @Test("An error that says nothing about what to do is printed with an advice: what, where, what now")
  func printed() throws {
    let folder = try CommandFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("Empty.xcdatamodeld"), withIntermediateDirectories: true)
    let outcome = try folder.run("godwit", ["models", folder.file("Empty.xcdatamodeld")])
    #expect(
      outcome.code == 20 && outcome.error.hasPrefix("godwit: \(folder.file("Empty.xcdatamodeld")): "), "\(outcome)")
    #expect(outcome.error.contains("Open the model in Xcode") || outcome.error.contains("Name "), "\(outcome)")
  }
}
