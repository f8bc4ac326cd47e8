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
    let found = try ImportPosition(from: &state, files: paths.count)
    (position, digests, objects, rejects) = (found.position, found.digests, found.objects, found.rejects)
    (uuid, uris.store) = (found.uuid, found.uris)
    (emptyFiles, externalFiles) = (found.emptyFiles, found.externalFiles)
    let length = try state.readUInt64()
    try list?.restore(length)
    try spool.restore(from: &state)
    try references.restore(from: &state)
    for (path, digest) in zip(paths, digests) {
      try monitor.throwIfStopRequested()
      guard try ImportFiles.digest(path, files.fileSystem) == digest else { throw ImportPosition.changed(path) }
    }
    guard let place = found.place else { return }
    let (path, lines) = (paths[position], try open(paths[position]))
    self.place = try lines.resume(
      at: place.offset, line: place.line, bytesRead: place.bytesRead, digest: place.digest)
    guard self.place != nil else { throw ImportPosition.changed(path) }
    (input.header, before) = (place.header, place.before)
  }
}
