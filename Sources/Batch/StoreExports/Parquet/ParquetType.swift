import CoreDataModel

/// What the values of a column of a Parquet file are.
enum ParquetType {
  case boolean
  case int16
  case int32
  case int64
  case float
  case double
  /// Microseconds since 1970 in UTC.
  case timestamp
  case uuid
  case bytes
  /// UTF-8; numbers are written in digits.
  case text

  /// The type for an attribute's values. Decimals are text, which is exact.
  init(_ attribute: AttributeDescription, _ options: ExportOptions) {
    switch attribute.type {
    case .boolean: self = .boolean
    case .integer16: self = .int16
    case .integer32: self = .int32
    case .integer64: self = .int64
    case .float: self = .float
    case .double: self = .double
    case .date: self = options.dates == .iso ? .timestamp : .double
    case .uuid: self = .uuid
    case .binaryData, .transformable: self = options.decodings.isEmpty ? .bytes : .text
    case .undefined, .decimal, .string, .uri, .objectID, .composite: self = .text
    }
  }

  /// The physical type's number in parquet.thrift.
  var number: Int {
    switch self {
    case .boolean: 0
    case .int16, .int32: 1
    case .int64, .timestamp: 2
    case .float: 4
    case .double: 5
    case .bytes, .text: 6
    case .uuid: 7
    }
  }

  /// An element of the schema: its name, whether it may be NULL, and what the bytes mean.
  func element(_ name: String, isOptional: Bool) -> [UInt8] {
    ThriftWriter.structure { element in
      element.int32(1, number)
      if self == .uuid { element.int32(2, 16) }
      element.int32(3, isOptional ? 1 : 0)
      element.text(4, name)
      // The older way to say the same, for those who do not know the newer one.
      if let converted { element.int32(6, converted) }
      if let logical { element.structure(10, logical) }
    }
  }

  private var converted: Int? {
    switch self {
    case .text: 0
    case .timestamp: 10
    case .int16: 16
    case .int32: 17
    case .int64: 18
    case .boolean, .float, .double, .uuid, .bytes: nil
    }
  }

  private var logical: [UInt8]? {
    switch self {
    case .boolean, .float, .double, .bytes: nil
    case .text: ThriftWriter.structure { $0.choice(1) }
    case .int16: Self.integer(16)
    case .int32: Self.integer(32)
    case .int64: Self.integer(64)
    case .uuid: ThriftWriter.structure { $0.choice(14) }
    case .timestamp:
      ThriftWriter.structure {
        $0.structure(
          8,
          ThriftWriter.structure { type in
            type.flag(1, true)
            type.structure(2, ThriftWriter.structure { $0.choice(2) })
          })
      }
    }
  }

  private static func integer(_ bits: UInt8) -> [UInt8] {
    ThriftWriter.structure {
      $0.structure(
        10,
        ThriftWriter.structure { type in
          type.byte(1, bits)
          type.flag(2, true)
        })
    }
  }
}
