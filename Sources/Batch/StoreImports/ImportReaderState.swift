import RunSupport
import Streams

extension ImportReader {
  /// Whether there are references by values, or values that are to be unique.
  var hasQuestions: Bool { links.hasQuestions }

  /// Answers references by values, when all files are read, and refuses values that are not unique.
  func answer(_ paths: [String]) throws { try links.answer(ImportLines(paths: paths), rejects: rejects) }
}

// What a checkpoint continues.
extension ImportReader {
  func encode(into state: inout ByteWriter) throws {
    state.writeInt(position)
    state.writeOptional(lines == nil ? nil : place) { state, place in
      state.writeUInt64(place.offset)
      state.writeInt(place.line)
      state.writeUInt64(place.bytesRead)
      state.writeBytes(place.digest.value)
      state.writeUInt64(before)
      state.writeOptional(input.header) { $0.writeArray($1) { $0.writeString($1) } }
    }
    for count in [objects, rejects] { state.writeUInt64(count) }
    for text in [uuid, uris.store] { state.writeOptional(text) { $0.writeString($1) } }
    for names in [emptyFiles, externalFiles.sorted()] { state.writeArray(names) { $0.writeString($1) } }
    state.writeArray(digests) { $0.writeBytes($1) }
    state.writeUInt64(list?.length ?? 0)
    try spool.encode(into: &state)
    try references.encode(into: &state)
  }

  /// Makes durable what ``encode(into:)`` speaks of.
  func sync() throws {
    try spool.sync()
    try references.sync()
    try sides.sync()
    try list?.sync()
  }

  /// Continues with the same files. Throws `stopped` before a file is looked at, if a stop was asked for.
  func restore(from state: inout ByteReader, _ paths: [String], _ monitor: RunMonitor) throws {
    position = try state.readInt()
    let place = try readPlace(from: &state)
    (objects, rejects) = (try state.readUInt64(), try state.readUInt64())
    (uuid, uris.store) = (
      try state.readOptional { try $0.readString() }, try state.readOptional { try $0.readString() }
    )
    (emptyFiles, externalFiles) = (
      try state.readArray { try $0.readString() }, Set(try state.readArray { try $0.readString() })
    )
    digests = try state.readArray { try $0.readBytes(cap: 64) }
    guard 0...paths.count ~= position, digests.count == position, place == nil || position < paths.count else {
      throw state.damaged("a position in no file")
    }
    let length = try state.readUInt64()
    try list?.restore(length)
    try spool.restore(from: &state)
    try references.restore(from: &state)
    for (path, digest) in zip(paths, digests) {
      try monitor.throwIfStopRequested()
      guard try ImportFiles.digest(path, files.fileSystem) == digest else { throw changed(path) }
    }
    guard let place else { return }
    let (path, lines) = (paths[position], try open(paths[position]))
    self.place = try lines.resume(
      at: place.offset, line: place.line, bytesRead: place.bytesRead, digest: place.digest)
    guard self.place != nil else { throw changed(path) }
    input.header = place.header
  }

  /// The place in the file at hand, with the header of CSV; nil between files.
  private func readPlace(
    from state: inout ByteReader
  ) throws -> (offset: UInt64, line: Int, bytesRead: UInt64, digest: [UInt8], header: [String]?)? {
    try state.readOptional { state in
      let place = (
        try state.readUInt64(), try state.readInt(), try state.readUInt64(), try state.readBytes(cap: 64)
      )
      before = try state.readUInt64()
      return (place.0, place.1, place.2, place.3, try state.readOptional { try $0.readArray { try $0.readString() } })
    }
  }

  private func changed(_ path: String) -> BatchError {
    BatchError(.badCheckpoint, "the file was changed since the import read it", path: path)
  }
}
