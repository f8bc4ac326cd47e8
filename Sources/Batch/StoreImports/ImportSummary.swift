import RunSupport
import Streams

/// What was made.
public struct ImportSummary: Sendable, Equatable {
  /// Objects by entity; entities without objects are not among them.
  public var rows: [String: UInt64] = [:]
  /// Links of many-to-many relationships.
  public var links: UInt64 = 0
  /// Lines that were left out.
  public var rejects: UInt64 = 0
  /// Keys that lead to no object, in rows and in join tables; see ``ImportOptions/allowsDangling``.
  public var dangling: UInt64 = 0
  /// Files of external data that are beside the store.
  public var externalFiles: UInt64 = 0
  /// References to files that are not in the folder, or were not copied because none was named.
  public var missingFiles: UInt64 = 0
  /// Files in which there is no object.
  public var emptyFiles: [String] = []
  /// What else was in folders that were named, except for hidden files.
  public var passedOver: [String] = []
  /// The store's UUID.
  public var uuid = ""
}

extension ImportSummary {
  /// Of what was written.
  var encoded: ByteWriter {
    var state = ByteWriter()
    state.writeArray(rows.sorted { $0.key < $1.key }) {
      $0.writeString($1.key)
      $0.writeUInt64($1.value)
    }
    for count in [links, rejects, dangling, externalFiles, missingFiles] { state.writeUInt64(count) }
    for names in [emptyFiles, passedOver] { state.writeArray(names) { $0.writeString($1) } }
    state.writeString(uuid)
    return state
  }

  init(from state: inout ByteReader) throws {
    let counts = try state.readArray { (try $0.readString(), try $0.readUInt64()) }
    rows = Dictionary(counts) { first, _ in first }
    (links, rejects, dangling) = (try state.readUInt64(), try state.readUInt64(), try state.readUInt64())
    (externalFiles, missingFiles) = (try state.readUInt64(), try state.readUInt64())
    (emptyFiles, passedOver) = (
      try state.readArray { try $0.readString() }, try state.readArray { try $0.readString() }
    )
    uuid = try state.readString()
  }
}
