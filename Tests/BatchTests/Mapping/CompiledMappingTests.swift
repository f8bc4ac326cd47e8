import CompiledMappings
import Foundation
import Streams
import TestSupport
import Testing

@testable import Codecs
@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

@Suite("Compiled mapping models")
struct CompiledMappingTests {
  /// What a compiled mapping model can say, under the name that it has in the archive.
  static func unnamed(_ model: MappingModel) -> MappingModel {
    var model = model
    (model.sourceModelName, model.destinationModelName) = (nil, nil)
    return model
  }

  /// The same, whichever order the properties have.
  static func sorted(_ model: MappingModel) -> MappingModel {
    var model = unnamed(model)
    for index in model.entityMappings.indices {
      model.entityMappings[index].attributeMappings.sort { $0.name < $1.name }
      model.entityMappings[index].relationshipMappings.sort { $0.name < $1.name }
    }
    return model
  }

  static func read(_ bytes: [UInt8], name: String = "M") throws -> MappingModel {
    try CompiledMappingReader.model(KeyedArchive(bytes), name: name)
  }

  /// A mapping model with everything that an archive can hold.
  static func sample() -> MappingModel {
    let source = CoreDataModel.Expression.variable("source")
    var book = EntityMapping(name: "Books", sourceEntity: "Book", destinationEntity: "Work")
    book.filterPredicate = "pages > 3"
    book.userInfo = ["modelVersion": "2", "empty": ""]
    book.policyClassName = "BookPolicy"
    book.attributeMappings = [
      PropertyMapping(name: "title"), PropertyMapping(name: "pages", valueExpression: .constant(.integer(7))),
      PropertyMapping(name: "author", valueExpression: .keyPath(operand: source, path: ["writer", "name"])),
    ]
    book.relationshipMappings = [
      PropertyMapping(
        name: "all", valueExpression: .destinationInstances(ofMapping: "Books", source: .keyPath(text: "$source.few"))),
      PropertyMapping(
        name: "readers",
        valueExpression: .destinationInstances(ofMapping: "Books", source: .keyPath(text: "$source.others"))),
    ]
    var added = EntityMapping(name: "New", sourceEntity: nil, destinationEntity: "Shelf")
    added.attributeMappings = [PropertyMapping(name: "name")]
    let removed = EntityMapping(name: "Gone", sourceEntity: "Old", destinationEntity: nil)
    var model = MappingModel(name: "M", entityMappings: [book, added, removed])
    let hash = (0..<3).map { Array(repeating: UInt8($0), count: 32) }
    model.sourceHashes = ["Book": hash[0], "Old": hash[1]]
    model.destinationHashes = ["Work": hash[2]]
    return model
  }

  @Test("A compiled mapping model says what the mapping model says that it was made of")
  func same() throws {
    #expect(try Self.read(CompiledMappingFile().bytes(Self.sample())) == Self.sample())
    for (number, mapping) in try ExampleLibrary.mappings().enumerated() {
      let model = try ExampleLibrary.version(number == 0 ? 1 : 2)
      let read = try Self.read(CompiledMappingFile(source: model).bytes(mapping), name: mapping.name)
      #expect(read == Self.unnamed(mapping))
    }
  }

  @Test("What Xcode writes for the default is the default again only if that gives the same objects")
  func defaults() throws {
    let first = EntityMapping(name: "First", sourceEntity: "A", destinationEntity: "A")
    var other = EntityMapping(name: "Other", sourceEntity: "B", destinationEntity: "B")
    let expression = CoreDataModel.Expression.destinationInstances(
      ofMapping: "First", source: .keyPath(text: "$source.many"))
    other.relationshipMappings = [PropertyMapping(name: "many", valueExpression: expression)]
    var model = MappingModel(name: "M", entityMappings: [first, other])
    let alone = try Self.read(CompiledMappingFile().bytes(model))
    #expect(alone.entityMappings[1].relationshipMappings == [PropertyMapping(name: "many")])
    // Objects of A come from two mappings: only those of one of them are meant.
    model.entityMappings.append(EntityMapping(name: "Second", sourceEntity: "A", destinationEntity: "A"))
    #expect(try Self.read(CompiledMappingFile().bytes(model)) == model)
  }

  @Test("An entity mapping of nothing to nothing is left out, as Xcode's file with the same")
  func nothing() throws {
    var model = Self.sample()
    model.entityMappings.insert(EntityMapping(name: "Mapping", sourceEntity: nil, destinationEntity: nil), at: 1)
    #expect(try Self.read(CompiledMappingFile().bytes(model)) == Self.sample())
    let folder = try MigrationFolder([VersionPathTests.version(1)])
    let path = folder.path + "/Empty.xcmappingmodel"
    try ModelFiles.write(model, to: path)
    #expect(try MappingModelReader.read(path: path)[0].entityMappings.map(\.name) == ["Books", "New", "Gone"])
    model.entityMappings[1].policyClassName = "Policy"
    let error = #expect(throws: BatchError.self) { try Self.read(CompiledMappingFile().bytes(model)) }
    #expect(error?.message == "an entity mapping names neither a source nor a destination")
  }

  @Test("Its hashes alone name the step, and a migration by it gives the same bytes as by Xcode's file")
  func migrated() throws {
    let (old, new) = (VersionPathTests.version(1), VersionPathTests.version(2))
    let mapping = VersionPathTests.mapping("Step", old, new)
    let folder = try MigrationFolder([old, new], mappings: [mapping])
    let compiled = folder.path + "/Step.cdm"
    try CompiledMappingFile(source: old).write(mapping, to: compiled)
    let store = try folder.sample("V1", rows: 200, seed: 7)
    let outputs = try ["a": compiled, "b": "\(folder.path)/Mappings"].map { name, path in
      let output = try folder.place(name)
      var request = folder.request(store, output: output)
      request.mappings = [path]
      #expect(try folder.job().plan(request).steps.map(\.isInferred) == [false])
      _ = try folder.migrate(request)
      return try MigrationFolder.bytes(output)
    }
    #expect(outputs[0] == outputs[1])
  }

  @Test("A folder gives the .cdm files that it holds, but not those that have their source beside them")
  func folders() throws {
    let scratch = try MigrationFolder([VersionPathTests.version(1)])
    let folder = scratch.path + "/Models"
    try ModelFiles.write(Self.sample(), to: folder + "/Deep/B.xcmappingmodel")
    for name in ["A", "B"] { try CompiledMappingFile().write(Self.sample(), to: "\(folder)/\(name).cdm") }
    let models = try MappingModelReader.read(path: folder)
    #expect(models.map(\.name) == ["A", "B"] && models[0].sourceHashes != [:] && models[1].sourceHashes == [:])
    #expect(try MappingModelReader.read(path: folder + "/B.cdm")[0].sourceHashes != [:])
  }

  @Test("One that fits no step says which of its hashes no version has")
  func unused() throws {
    let versions = [VersionPathTests.version(1), VersionPathTests.version(2)]
    let mapping = Self.unnamed(VersionPathTests.mapping("Step", versions[0], VersionPathTests.version(3)))
    let check = MappingFileCheck(mapping, library: VersionPathTests.library(versions))
    let reason = "no version has its destination entities with these hashes: A"
    #expect(check.problems.first?.hasSuffix(" fits no two versions: \(reason)") == true)
  }

  @Test(
    "A mapping model of the corpus gives the same in both forms, and its hashes name one step",
    .enabled(if: isInCorpus, Comment(rawValue: ModelCorpus.missing)))
  func corpus() throws {
    let folder = try Self.corpusFolder()
    var pairs = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".cdm") {
      let compiled = try #require(try MappingModelReader.read(path: folder + "/" + name).first)
      let source = folder + "/\(compiled.name).xcmappingmodel"
      guard FileManager.default.fileExists(atPath: source) else { continue }
      let steps = MappingFileCheck(compiled, library: try ModelLibrary(paths: [folder + "/Delta.momd"])).steps
      // The hashes name one step of the versions beside it.
      #expect(steps.count == 1, "\(name): \(steps)")
      #expect(Self.sorted(compiled) == Self.sorted(try MappingModelReader.read(path: source)[0]), "\(name)")
      pairs += 1
    }
    #expect(pairs == 5)
  }

  /// The classes of an archive: of each its parents, and the keys that objects of it have.
  private static func structure(_ bytes: [UInt8]) throws -> [String: Set<String>] {
    guard case .dictionary(let list)? = try PropertyListFile.read(value: bytes, greatestWeight: 1 << 24),
      case .array(let objects)? = list["$objects"]
    else { return [:] }
    var found: [String: Set<String>] = [:]
    for case .dictionary(let fields) in objects {
      guard case .uid(let number)? = fields["$class"], case .dictionary(let kind) = objects[number],
        case .array(let parents)? = kind["$classes"]
      else { continue }
      found["\(parents)", default: []].insert(fields.keys.sorted().joined(separator: " "))
    }
    return found
  }

  @Test(
    "What our writer makes of a mapping model has the classes of Xcode's archive, and the keys of each",
    .enabled(if: isInCorpus, Comment(rawValue: ModelCorpus.missing)))
  func structureOfCorpus() throws {
    let folder = try Self.corpusFolder()
    let versions = try ModelReader.read(path: folder + "/Delta.momd")[0].versions
    for name in ["DeltaToDelta2", "Delta2ToDelta3", "Delta3ToDelta4", "Delta4ToDelta5", "Delta5ToDelta6"] {
      let model = try MappingModelReader.read(path: "\(folder)/\(name).xcmappingmodel")[0]
      let source = versions.first { $0.name == model.sourceModelName }
      let own = try Self.structure(CompiledMappingFile(source: source).bytes(model))
      let real = try Self.structure([UInt8](Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name).cdm"))))
      #expect(real.count >= 12 && own == real, "\(name)")
    }
  }

  private static let isInCorpus = (try? corpusFolder()) != nil

  private static func corpusFolder() throws -> String {
    let folder = try ModelCorpus.path("cdm/rileytestut+Delta")
    guard FileManager.default.fileExists(atPath: folder) else { throw BatchError(.failed, ModelCorpus.missing) }
    return folder
  }
}
