import ArgumentParser
import Batch
import Foundation
import Streams

/// `--hash`: says what was read, for the protocol of an examination.
struct HashArgument: ParsableArguments {
  @Flag(name: .long, help: .hash) var hash = false

  /// Runs `body`, and with `--hash` prints size and SHA-256 of every file of the stores on standard error. They are
  /// taken before and after; a difference is an error.
  func reading<R>(_ stores: [String], _ body: () throws -> R) throws -> R {
    guard hash else { return try body() }
    let before = try stores.flatMap(EvidenceFile.of)
    let result = Result { try body() }
    let after = try stores.flatMap(EvidenceFile.of)
    for file in before { Console.error(file.line) }
    guard before == after else {
      throw BatchError(
        .failed, "a file was changed by another program while it was read", hint: "Close that program and run again",
        path: zip(before, after).first { $0 != $1 }?.0.path ?? stores.first)
    }
    return try result.get()
  }
}

/// A file that belongs to a store, as it was read.
struct EvidenceFile: Equatable {
  private static let pieceBytes = 1 << 20

  let path: String
  let size: UInt64
  let hash: String

  var line: String { "sha256 \(hash)  \(size) bytes  \(path)" }

  /// The store, its log and its rollback journal, as far as they are there.
  static func of(_ store: String) throws -> [EvidenceFile] {
    let files = LocalFileSystem()
    guard try files.status(store) != nil else { throw NearName.noSuchFile(store) }
    return try ["", "-wal", "-journal"].map { store + $0 }.filter { try files.status($0) != nil }.map {
      try EvidenceFile($0, files)
    }
  }

  private init(_ path: String, _ files: LocalFileSystem) throws {
    let file = try files.open(path, .read)
    defer { file.close() }
    var (sum, buffer, end) = (SHA256(), [UInt8](repeating: 0, count: Self.pieceBytes), UInt64(0))
    while true {
      let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: end) }
      if count == 0 { break }
      sum.update(buffer[..<count])
      end += UInt64(count)
    }
    (self.path, size) = (path, end)
    hash = sum.finalize().hexadecimal
  }
}
