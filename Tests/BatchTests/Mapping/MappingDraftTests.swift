import RunSupport
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations

/// Drafts of mapping files for steps of real applications, and what they leave to their author.
@Suite("Drafts of mapping files")
struct MappingDraftTests {
  /// Most steps can be inferred, and their drafts are alike: of those one in ten is checked.
  @Test(
    "Every draft between neighbours of a real model that leaves something to do is taken by check",
    .enabled(if: ModelCorpus.isPresent))
  func neighbours() throws {
    var (drafts, undecided) = (0, 0)
    for path in try ModelCorpus.folders("xcdatamodeld", below: "models") {
      let library = try ModelLibrary(paths: [ModelCorpus.path(path)])
      for (old, new) in zip(library.versions, library.versions.dropFirst())
      where old.versionHashes != new.versionHashes {
        let text = MappingFileWriter.draft(from: old, to: new)
        drafts += 1
        guard text.contains("To do: ") || drafts % 10 == 0 else { continue }
        let read = try MappingFileReader.read(text: text, name: "Draft")
        let problems = MappingFileCheck(read, library: library).problems
        #expect(problems == [], "\(path): \(old.name) to \(new.name)")
        undecided += read.undecided.isEmpty ? 0 : 1
      }
    }
    // The corpus has steps that only their authors can decide, and most are not of that kind.
    #expect(drafts > 300 && undecided > 0 && undecided < drafts / 10, "\(drafts) drafts, \(undecided) undecided")
  }

  @Test("A many-to-many that loses its inverse is to be decided, as a list without one has each object once")
  func alone() throws {
    func model(_ name: String, _ back: Bool) -> ManagedObjectModel {
      let tags = StoreModels.link("tags", "Tag", back ? "books" : nil, many: true)
      return ManagedObjectModel(
        name: name,
        entities: [
          StoreModels.entity("Book", [("title", .string)], [tags]),
          StoreModels.entity(
            "Tag", [("word", .string)], back ? [StoreModels.link("books", "Book", "tags", many: true)] : []),
        ])
    }
    let text = MappingFileWriter.draft(from: model("A", true), to: model("B", false))
    #expect(text.contains("tags: { undecided: ") && text.contains("of one object alone"), "\(text)")
    let same = MappingFileWriter.draft(from: model("A", true), to: model("B", true))
    #expect(!same.contains("undecided"), "\(same)")
  }
}
