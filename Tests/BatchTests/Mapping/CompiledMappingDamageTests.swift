import CompiledMappings
import Foundation
import TestSupport
import Testing

@testable import Codecs
@testable import CoreDataModel
@testable import MappingModels
@testable import RunSupport

@Suite("Compiled mapping models of strangers", .endsWithin(minutes: 3))
struct CompiledMappingDamageTests {
  private static func refusal(_ bytes: [UInt8]) -> String? {
    let error = #expect(throws: BatchError.self) { try CompiledMappingTests.read(bytes) }
    return error?.message
  }

  /// The sample with one field of each object of a class replaced.
  private static func refusal(
    _ name: String, _ key: String, _ value: @escaping (inout ArchiveBuilder) -> PropertyListValue
  ) -> String? {
    let file = CompiledMappingFile { className, fields, builder in
      if className == name { fields[key] = value(&builder) }
    }
    return refusal(file.bytes(CompiledMappingTests.sample()))
  }

  @Test("What is not understood is refused by its name")
  func refused() {
    func value(_ text: String) -> (inout ArchiveBuilder) -> PropertyListValue { { $0.text(text) } }
    let cases: [(name: String, key: String, value: (inout ArchiveBuilder) -> PropertyListValue, message: String)] = [
      ("NSMappingModel", "NSFuture", value("x"), "a NSMappingModel has the field NSFuture, which is not supported"),
      ("NSPropertyMapping", "NSPropertyTransforms", value("x"), "has the field NSPropertyTransforms"),
      ("NSEntityMapping", "NSMappingType", { _ in .integer(6) }, "the kind 6 of the entity mapping does not fit"),
      ("NSEntityMapping", "NSMappingType", { _ in .integer(2) }, "the kind 2 of the entity mapping does not fit"),
      ("NSEntityMapping", "NSSourceEntityVersionHash", { $0.scalar(.data([1])) }, "of Book is not 32 bytes"),
      ("NSEntityMapping", "NSMappingName", { $0.array([]) }, "NSMappingName is no text"),
      ("NSEntityMapping", "NSUserInfo", value("x"), "NSUserInfo is no dictionary"),
      ("NSEntityMapping", "NSAttributeMappings", value("x"), "NSAttributeMappings is no list"),
      ("NSEntityMapping", "NSAttributeMappings", { $0.array([ArchiveBuilder.null]) }, "NSAttributeMappings is no list"),
      (
        "NSMappingModel", "NSEntityMappings", { $0.array([$0.text("x")]) },
        "holds a value in place of a NSEntityMapping"
      ),
      ("NSEntityMapping", "NSMappingName", { _ in .uid(9_999) }, "refers to objects that it does not hold"),
      ("NSPropertyMapping", "NSValueExpression", value("x"), "the value expression of title cannot be read"),
      (
        "NSEntityMapping", "NSSourceExpression", { _ in ArchiveBuilder.null },
        "no expression says which objects to take"
      ),
      (
        "NSEntityMapping", "NSSourceExpression", { $0.expression(.variable("source")) },
        "are not taken by a request with a predicate"
      ),
    ]
    for (name, key, value, message) in cases {
      let told = Self.refusal(name, key, value)
      #expect(told?.contains(message) == true, "\(name) \(key): \(told ?? "")")
    }
  }

  @Test("Two hashes of one entity, and a request for another entity, are contradictions")
  func contradictions() {
    var model = CompiledMappingTests.sample()
    model.entityMappings.append(model.entityMappings[0])
    var count: UInt8 = 0
    let file = CompiledMappingFile { className, fields, builder in
      guard className == "NSEntityMapping" else { return }
      count += 1
      fields["NSSourceEntityVersionHash"] = builder.scalar(.data(Array(repeating: count, count: 32)))
    }
    #expect(Self.refusal(file.bytes(model)) == "two version hashes are given for Book")
    let other = Self.refusal("NSEntityMapping", "NSSourceEntityName") { $0.text("Other") }
    #expect(other == "the source's objects are those of another entity, Book")
  }

  @Test("A file that is no compiled mapping model says its path, and what to name in its place")
  func files() throws {
    let folder = try MigrationFolder([VersionPathTests.version(1)])
    let path = folder.path + "/Wrong.cdm"
    let model = PropertyListWriter.write(.dictionary(["$objects": .array([]), "$top": .dictionary([:])]))
    for bytes in [[], Array("<plist".utf8), model, [UInt8](repeating: 0, count: 80)] {
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let error = #expect(throws: BatchError.self) { try MappingModelReader.read(path: path) }
      #expect(error?.code == .badMapping && error?.path == path)
      #expect(error?.hint == "Compile the mapping model again, or name its .xcmappingmodel")
    }
  }

  /// An expression that is its own operand.
  private static var ring: CompiledMappingFile {
    CompiledMappingFile { className, fields, builder in
      guard className == "NSPropertyMapping" else { return }
      let number = builder.reserve()
      let operand: CompiledMappingFile.Fields = [
        "NSExpressionType": .integer(4), "NSOperand": .uid(number), "NSSelectorName": builder.text("x"),
        "NSArguments": ArchiveBuilder.null,
      ]
      builder.describe(number, names: ["NSFunctionExpression"], fields: operand)
      fields["NSValueExpression"] = .uid(number)
    }
  }

  @Test("Objects that refer to each other in rings, deeply or too often end in an error, in bounded time and memory")
  func bombs() {
    #expect(
      Self.refusal(Self.ring.bytes(CompiledMappingTests.sample()))?.contains("holds itself or too many parts") == true)
    // Each level holds the one below it twice: 2 to the power of 60 parts.
    let doubled = CompiledMappingFile { className, fields, builder in
      guard className == "NSPropertyMapping" else { return }
      var part = builder.expression(.variable("source"))
      for _ in 0..<60 {
        part = builder.object(
          ["NSAggregateExpression"], ["NSExpressionType": .integer(14), "NSCollection": builder.array([part, part])])
      }
      fields["NSValueExpression"] = part
    }
    #expect(Self.refusal(doubled.bytes(CompiledMappingTests.sample()))?.contains("too many parts") == true)
    // One entity mapping with many properties, referred to again and again.
    let often = CompiledMappingFile { className, fields, builder in
      guard className == "NSMappingModel", case .array(let members)? = builder.members(of: fields["NSEntityMappings"])
      else { return }
      fields["NSEntityMappings"] = builder.array(Array(repeating: members[0], count: 200_000))
    }
    #expect(Self.refusal(often.bytes(CompiledMappingTests.sample()))?.contains("too often to be read") == true)
  }

  @Test("Damaged archives end in a mapping model or an error, never in a trap")
  func mutations() throws {
    let seed: UInt64 = 20_261_126
    print("seed \(seed)")
    var random = SeededRandom(seed)
    let archive = CompiledMappingFile().bytes(CompiledMappingTests.sample())
    for length in stride(from: 0, to: archive.count, by: 7) {
      #expect(throws: BatchError.self) { try CompiledMappingTests.read(Array(archive.prefix(length))) }
    }
    var read = 0
    for _ in 0..<3_000 {
      do {
        let model = try CompiledMappingTests.read(PropertyListFormTests.mutated(archive, &random))
        _ = try? MappingFileWriter.text(model)
        read += 1
      } catch {
        // No other error: it would leave the library without a code.
        #expect(error is BatchError, "\(error)")
      }
    }
    print("\(read) damaged archives were still mapping models")
    #expect(read > 0)
  }
}

extension ArchiveBuilder {
  /// The members of an array that was made before.
  fileprivate func members(of value: PropertyListValue?) -> PropertyListValue? {
    guard case .uid(let number)? = value, case .dictionary(let fields) = objects[number] else { return nil }
    return fields["NS.objects"]
  }
}
