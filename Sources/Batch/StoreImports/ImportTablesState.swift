import CoreDataStore
import Streams

extension ImportTables {
  /// Objects by entity, and the number of links.
  var totals: (rows: [String: UInt64], links: UInt64) {
    var named: [String: UInt64] = [:]
    for (number, count) in counts.enumerated() where count > 0 { named[plan.byNumber[number]?.name ?? ""] = count }
    return (named, links)
  }
}

// What a checkpoint between two rows continues.
extension ImportTables {
  func encode(into state: inout ByteWriter) {
    state.writeInt(next)
    state.writeOptional(builder) { $1.encode(into: &$0) }
    state.writeInt64(linkRow)
    state.writeArray(counts) { $0.writeUInt64($1) }
    for count in [links, rows, taken] { state.writeUInt64(count) }
  }

  func restore(from state: inout ByteReader) throws {
    next = try state.readInt()
    let count = plan.layout.entityTables.count + plan.layout.joinTables.count
    guard 0...count ~= next else { throw state.damaged("a table that the model does not have") }
    builder = try state.readOptional { state in
      guard next < count else { throw state.damaged("an open table behind the last one") }
      let builder = try makeBuilder(next)
      try builder.restore(from: &state)
      return builder
    }
    linkRow = try state.readInt64()
    let found = try state.readArray(elementSize: 8) { try $0.readUInt64() }
    guard found.count == counts.count else { throw state.damaged("counts of other entities") }
    counts = found
    (links, rows, taken) = (try state.readUInt64(), try state.readUInt64(), try state.readUInt64())
  }
}
