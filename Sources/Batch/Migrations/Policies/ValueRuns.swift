import CoreDataStore
import RunSupport
import Streams

// Finding objects of the source by the value of an attribute: by a sorted file that is made when it is first asked for.
extension SourceGraph {
  /// The objects of an entity and of its sub-entities whose attribute may have a value, by key: all that have it, and
  /// rarely one that has another.
  package func objects(_ entity: SourceEntity, _ attribute: StoredAttribute, maybe value: Value) throws
    -> [SourceObject]
  {
    let run = try valueRun("value.\(entity.number).\(attribute.position)") { add in
      try forEach(entity) { object in
        try add(Self.digest(attribute.type.normalized(object.value(attribute))), object.key, object.key)
      }
    }
    return try run.values(Self.digest(value)).compactMap { try object(entity.number, key: $0) }
  }

  /// The same for equal values, and for a whole number in both its forms.
  private static func digest(_ value: Value) -> Int64 {
    switch value {
    case .null: return 0
    case .integer(let integer): return integer
    case .real(let double): return Int64(exactly: double) ?? Int64(bitPattern: double.bitPattern)
    case .text(var text): return text.withUTF8 { Int64(bitPattern: hashBytes(UnsafeRawBufferPointer($0))) }
    case .blob(let bytes): return bytes.withUnsafeBytes { Int64(bitPattern: hashBytes($0)) }
    }
  }
}
