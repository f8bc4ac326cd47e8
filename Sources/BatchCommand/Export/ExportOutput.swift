import ArgumentParser
import Batch
import Foundation
import Streams

/// An export that can be one text, or one for each table.
protocol ObjectsExport {
  func run(to sink: @escaping (UnsafeRawBufferPointer) throws -> Void, progress: (UInt64, Double) -> Void) throws
    -> ExportSummary
  func run(toEach parts: @escaping ExportParts, progress: (UInt64, Double) -> Void) throws -> ExportSummary
}

extension StoreExport: ObjectsExport {}
extension RawExport: ObjectsExport {}

/// Where an export goes: standard output, a file, or a folder with a file for each table; nowhere, if it is /dev/null.
struct ExportOutput {
  /// The path that was given, without the slash at its end; nil for standard output.
  let path: String?
  let isFolder: Bool
  private let files = LocalFileSystem()

  /// A path that ends with a slash, or at which there is a folder, is a folder.
  init(_ path: String?) {
    let isNamed = path?.hasSuffix("/") == true && path != "/"
    let plain = path.map { $0.count > 1 ? String($0.reversed().drop { $0 == "/" }.reversed()) : $0 }
    self.path = plain == "/dev/stdout" ? nil : plain
    isFolder = isNamed || plain.map { (try? LocalFileSystem().status($0))??.isDirectory == true } ?? false
  }

  private var isNowhere: Bool { path == "/dev/null" }

  /// Throws for a path that belongs to a store, or that is taken: before any work is done.
  func check(_ stores: [String]) throws {
    guard let path, !isNowhere else { return }
    guard !isFolder else { return try ExportFolder(path: path, suffix: "", fileSystem: files).refuseTaken() }
    let new = NewFile(path, working: ExportFile.suffix, files)
    try new.refuseTaken()
    for name in [path, new.working] { try OutputPath("--output", name).check(stores) }
  }

  /// Writes an export where it goes.
  func write(_ export: some ObjectsExport, suffix: String, progress: (UInt64, Double) -> Void) throws
    -> ExportSummary
  {
    guard let path else { return try export.run(to: Self.print, progress: { _, _ in }) }
    guard !isNowhere else { return try export.run(to: { _ in }, progress: progress) }
    guard isFolder else {
      return try ExportFile(path: path, fileSystem: files).write { try export.run(to: $0, progress: progress) }
    }
    return try ExportFolder(path: path, suffix: suffix, fileSystem: files).write {
      try export.run(toEach: $0, progress: progress)
    }
  }

  /// Writes one text where it goes.
  func write(_ body: (@escaping (UnsafeRawBufferPointer) throws -> Void) throws -> ExportSummary) throws
    -> ExportSummary
  {
    guard let path else { return try body(Self.print) }
    guard !isNowhere else { return try body { _ in } }
    return try ExportFile(path: path, fileSystem: files).write(body)
  }

  private static func print(_ bytes: UnsafeRawBufferPointer) throws {
    // The end of the process says why.
    guard Output.write(bytes) == 0 else { throw ExitCode(1) }
  }
}
