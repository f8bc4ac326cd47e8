import Foundation
import Glibc
import Testing

@testable import SwiftDataModels

/// Policies as an iOS developer writes them, compiled and run. A build takes minutes, so GODWIT_BUILDS asks for it.
@Suite("Policies of an application, compiled", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct PoliciesCommandTests {
  private static let asked = ProcessInfo.processInfo.environment["GODWIT_BUILDS"] != nil
  private static let buildFolder = ExampleFolder.root + "/.build/policies"
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder(readsSwift: true) }

  private static let policy = """
    import CoreData
    import Foundation

    @objc(LibraryBookPolicy)
    @objcMembers
    final class LibraryBookPolicy: NSEntityMigrationPolicy {
      override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
      ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let book = manager.destinationInstances(
          forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
        else { fatalError("no book") }
        switch mapping.userInfo?["modelVersion"] as? String {
        case "2":
          guard let name = sInstance.value(forKey: "authorName") as? String else { return }
          let author = try author(named: name, in: manager.destinationContext)
          book.mutableSetValue(forKey: "authors").add(author)
        case "3":
          let file = NSEntityDescription.insertNewObject(forEntityName: "File", into: manager.destinationContext)
          file.setValue(sInstance.value(forKey: "fileURL"), forKey: "fileURL")
          file.setValue(book, forKey: "book")
          let users = manager.destinationInstances(forSourceRelationshipNamed: "user", sourceInstances: [sInstance])
          file.setValue(users.first, forKey: "user")
        default: break
        }
      }

      private func author(named name: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Author")
        request.predicate = NSPredicate(format: "%K == %@", #keyPath(Author.name), name)
        if let author = try context.fetch(request).first as? NSManagedObject { return author }
        let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
        author.setValue(name, forKey: "name")
        return author
      }
    }

    """

  private func build(_ words: String...) throws -> (CommandProcess.Outcome, program: String) {
    let program = folder.file("godwit-policies")
    let done = try folder.run(
      "godwit",
      ["policies", "build"] + words + ["--output", program, "--debug", "--build-folder", Self.buildFolder])
    return (done, program)
  }

  @Test("A policy as it stands in an application gives what our own policy gives", .enabled(if: asked, "GODWIT_BUILDS"))
  func library() throws {
    let source = folder.file("BookPolicy.swift")
    try Self.policy.write(toFile: source, atomically: true, encoding: .utf8)
    let (built, program) = try build(source)
    #expect(built.code == 0 && built.output.contains("LibraryBookPolicy: \(source):6"), "\(built.error)")
    let store = try folder.sample(rows: 3000)
    let outputs = [folder.file("own.sqlite"), folder.file("built.sqlite")]
    let words = ["migrate", store, "--quiet", "--output"]
    #expect(try folder.run("book-migration", words + [outputs[0]] + CommandFolder.models).code == 0)
    let done = try folder.run(program, words + [outputs[1]] + CommandFolder.models)
    #expect(done.code == 0, "\(done.error)")
    for sql in [
      "SELECT Z_PK, ZNAME FROM ZAUTHOR ORDER BY 1", "SELECT Z_PK, ZFILEURL, ZBOOK, ZUSER FROM ZFILE ORDER BY 1",
      "SELECT * FROM ZBOOK ORDER BY Z_PK", "SELECT * FROM Z_1BOOKS ORDER BY 1, 2", "SELECT * FROM ZUSER ORDER BY Z_PK",
    ] {
      let rows = try outputs.map { try ExampleFolder.rows($0, sql) }
      #expect(rows[0] == rows[1] && !rows[0].isEmpty, "\(sql)")
    }
  }

  @Test("Errors of the compiler name the files of the application", .enabled(if: asked, "GODWIT_BUILDS"))
  func errors() throws {
    let source = folder.file("BadPolicy.swift")
    let text = "import CoreData\n@objc\nclass BadPolicy: NSEntityMigrationPolicy {\n  func f() { Missing.call() }\n}\n"
    try text.write(toFile: source, atomically: true, encoding: .utf8)
    let (built, _) = try build(source)
    #expect(built.code == 20 && built.error.contains("\(source):4:14: error: cannot find 'Missing' in scope"))
  }

  @Test("A signal that ends a build ends what compiles, too")
  func interrupted() throws {
    let (source, builds) = (folder.file("BookPolicy.swift"), folder.newPath("builds"))
    try Self.policy.write(toFile: source, atomically: true, encoding: .utf8)
    let process = try CommandProcess(
      "godwit", ["policies", "build", source, "--output", folder.file("program"), "--build-folder", builds], in: folder)
    for _ in 0..<600 where process.isRunning && Self.compilers(builds).isEmpty { usleep(100_000) }
    let began = Self.compilers(builds)
    process.send(SIGINT)
    let outcome = try process.wait()
    for _ in 0..<300 where !Self.compilers(builds).isEmpty { usleep(100_000) }
    #expect(!began.isEmpty && outcome.code == 128 + SIGINT, "\(outcome)")
    #expect(Self.compilers(builds).isEmpty)
  }

  /// Processes that build in a folder: swift's name in their words.
  private static func compilers(_ folder: String) -> [String] {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.filter { Int($0) != nil }.filter { process in
      let words = (FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()).split(separator: 0)
        .map { String(decoding: $0, as: UTF8.self) }
      return words.first.map { $0.contains("swift") } == true && words.contains { $0.hasPrefix(folder) }
    }
  }

  @Test("What cannot be built is refused before anything is compiled")
  func refusals() throws {
    let source = folder.file("ViewPolicy.swift")
    try "import UIKit\nclass ViewPolicy: NSEntityMigrationPolicy {}\n".write(
      toFile: source, atomically: true, encoding: .utf8)
    let (foreign, _) = try build(source)
    #expect(foreign.code == 20 && foreign.error.contains("\(source):1: imports UIKit, which is not here"))
    #expect(try build(folder.file("Nothing.swift")).0.code == 64)
    try Self.policy.write(toFile: source, atomically: true, encoding: .utf8)
    let lost = try folder.run("godwit", ["policies", "build", source, "--output", "x", "--package", folder.path])
    #expect(lost.code == 20 && lost.error.contains("Name a checkout of them with --package"))
  }
}
