import Batch
import Foundation

extension StoreOutcome {
  /// Of a command that was run with `--json`. One that fails after it has printed its result says both, one after the
  /// other.
  init(_ outcome: StoreProcesses.Outcome) {
    (code, said) = (outcome.code, outcome.error)
    let documents = Self.documents([UInt8](outcome.output))
    let values = documents.map { try? JSONDecoder().decode(JSONValue.self, from: $0) }
    let (first, last) = (values.first.flatMap { $0 }, values.last.flatMap { $0 })
    let isWhole = outcome.output.suffix(2).elementsEqual("}\n".utf8)
    document = isWhole && first?["error"]?["exitCode"] == nil ? first : nil
    // What is no failure is long, and not read twice.
    guard last?["error"] != nil, let text = documents.last else { return }
    failure = try? JSONDecoder().decode(FailureDocument.self, from: text).error
  }

  /// The documents of an output: the last line of each is a brace.
  private static func documents(_ output: [UInt8]) -> [Data] {
    let (end, brace) = (UInt8(ascii: "\n"), UInt8(ascii: "}"))
    var documents: [Data] = []
    var start = 0
    for place in output.indices.dropFirst() where output[place] == end && output[place - 1] == brace {
      guard place > 1, output[place - 2] == end else { continue }
      documents.append(Data(output[start..<place]))
      start = place + 1
    }
    return start < output.count ? documents + [Data(output[start...])] : documents
  }
}
