import Streams

/// Finds out what bytes hold.
package struct BlobReader {
  enum Form {
    case json([UInt8])
    case uuid
    /// Nothing that is asked for.
    case bytes
  }

  var decodings: Set<ExportDecoding> = []
  /// Counts bytes that look like a list or an archive and could not be shown as one.
  var unread = ExportTally()

  func form(of bytes: UnsafeRawBufferPointer) -> Form {
    guard !decodings.isEmpty else { return .bytes }
    if decodings.contains(.uuid), bytes.count == 16 { return .uuid }
    do { return try BlobText(decodings: decodings).json(bytes).map(Form.json) ?? .bytes } catch {
      unread.count += 1
      return .bytes
    }
  }

  /// The name of the file beside the store that bytes of an attribute with external data stand for; nil if they are the
  /// value itself. It is a UUID and nothing else: it becomes part of a path (B.4).
  package static func externalFile(_ bytes: UnsafeRawBufferPointer) -> String? {
    guard bytes.count == 38, bytes[0] == 2, bytes[37] == 0 else { return nil }
    for index in 1..<37 {
      let byte = bytes[index]
      let isDash = index == 9 || index == 14 || index == 19 || index == 24
      let isHex = (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
      guard isDash ? byte == 0x2D : isHex else { return nil }
    }
    return String(decoding: bytes[1..<37], as: UTF8.self)
  }
}

extension BlobReader {
  /// A value into a column of Parquet.
  func write(_ cell: ExportCell, to column: ParquetColumn) {
    guard case .blob(let bytes) = cell, column.type == .text, column.isMixed || !decodings.isEmpty else {
      return column.append(cell)
    }
    let text = ExportText(format: .csv, sink: { _ in })
    switch form(of: bytes) {
    case .json(let json): return json.withUnsafeBytes { column.append($0) }
    case .uuid: text.appendUUID(bytes)
    case .bytes: if !bytes.isEmpty { text.appendBase64(bytes) }
    }
    text.take().withUnsafeBytes { column.append($0) }
  }

  /// A value into a column that holds several types as text.
  func write(_ cell: ExportCell, as kind: ExportKind, toMixed column: ParquetColumn) {
    switch (kind, cell) {
    case (_, .null), (_, .text): return column.append(cell)
    case (.uuid, .blob(let bytes)) where bytes.count == 16: break
    case (_, .blob): return write(cell, to: column)
    case (_, .integer), (_, .real): break
    }
    // None of these is a field that needs quotation marks.
    let text = ExportText(format: .csv, sink: { _ in })
    ExportValueWriter(text: text, externalSize: { _ in nil }, blobs: self).write(cell, as: kind)
    text.take().withUnsafeBytes { column.append($0) }
  }

  /// A value that may lie beside the store; then it is NULL.
  func write(external cell: ExportCell, to column: ParquetColumn) {
    guard case .blob(let bytes) = cell else { return column.append(cell) }
    if bytes.first == 1 { return write(.blob(UnsafeRawBufferPointer(rebasing: bytes[1...])), to: column) }
    if Self.externalFile(bytes) != nil { column.appendNull() } else { write(cell, to: column) }
  }

  /// The name of the file beside the store.
  func write(fileOf cell: ExportCell, to column: ParquetColumn) {
    guard case .blob(let bytes) = cell, let name = Self.externalFile(bytes) else { return column.appendNull() }
    column.append(name)
  }
}
