import Codecs
import CoreDataModel
import MappingModels
import RunSupport
import Streams

// A run goes on by its copies of mapping models: whether those that it had them of were edited meanwhile is of use to
// know after an error.
extension MigrationJob {
  /// Where the mapping models are now of a run that has copies of others: those of a request, or those that the run was
  /// begun with. Nil if they are the same, if the run had none, and if nobody knows where they are.
  func changedMappings(_ job: JobDirectory, _ request: Request?) -> [String]? {
    guard let plan = try? JobPlan.read(job, fileSystem), !plan.mappings.isEmpty else { return nil }
    let paths = request?.mappings ?? Self.mappings(in: plan.arguments ?? [])
    guard !paths.isEmpty, paths.allSatisfy({ ((try? fileSystem.status($0)) ?? nil) != nil }),
      let kept = try? contents(of: plan.mappings.map(job.file))
    else { return nil }
    let found = try? contents(
      of: paths.flatMap {
        let path = try JobDirectory.resolve($0)
        return PackageFolders.isFolder(path) ? try MappingModelReader.documents(below: path) : [path]
      })
    return found == kept ? nil : paths.map { (try? JobDirectory.resolve($0)) ?? $0 }
  }

  private static func mappings(in arguments: [String]) -> [String] {
    guard let place = arguments.firstIndex(of: "--mappings") else { return [] }
    return Array(arguments[(place + 1)...].prefix { !$0.hasPrefix("-") })
  }

  /// What mapping models say, with their tables: digests of their files, in order.
  private func contents(of packages: [String]) throws -> [[UInt8]] {
    try packages.flatMap { package in
      let folder = FilePaths.directory(of: package)
      let tables = try MappingModelReader.tableFiles(of: package).map { FilePaths.join(folder, $0) }
      return try ([package] + tables).flatMap { try digests(of: $0, depth: 8) }
    }
  }

  private func digests(of path: String, depth: Int) throws -> [[UInt8]] {
    guard try fileSystem.status(path)?.isDirectory == true else {
      return [SHA256.hash(try fileSystem.readAll(path, cap: 256 << 20))]
    }
    guard depth > 0 else { return [] }
    return try fileSystem.list(path).flatMap { try digests(of: FilePaths.join(path, $0), depth: depth - 1) }
  }
}
