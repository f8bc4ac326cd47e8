import ArgumentParser
import Batch

/// What models in the sources of SwiftData need besides them.
struct SwiftOptions: ParsableArguments {
  @Option(
    name: .long, parsing: .upToNextOption,
    help: ArgumentHelp(
      "What types that Swift sources do not declare are stored as: 'Money=Decimal', 'Point={x: Double, y: Double?}'.",
      valueName: "type"))
  var swiftTypes: [String] = []

  @Option(
    name: [.customLong("define"), .customShort("D", allowingJoined: true)],
    help: ArgumentHelp(
      "What is true in #if of Swift sources: a name, or 'os(iOS)'; '!os(iOS)' is false. Repeat it.",
      valueName: "condition")
  )
  var defines: [String] = []

  /// Whatever the command reads afterwards is read by them.
  func validate() throws {
    do { ModelFormats.register(try SwiftDataReader(types: swiftTypes, flags: defines)) } catch let error as BatchError {
      throw ValidationError("\(error)")
    }
  }

  var arguments: [String] {
    (swiftTypes.isEmpty ? [] : ["--swift-types"] + swiftTypes) + defines.flatMap { ["--define", $0] }
  }
}
