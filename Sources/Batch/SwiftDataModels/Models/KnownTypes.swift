import CoreDataModel

/// Types that sources do not declare: those of Swift, Foundation and SwiftUI that were seen in stores, and those that a
/// person names.
struct KnownTypes: Sendable {
  /// By the text of the type, without spaces.
  private let named: [String: AttributeShape]
  /// Protocols that sources do not declare, in the same way.
  private let protocols: Set<String>

  private static let plain: [String: AttributeType] = [
    "String": .string, "Bool": .boolean, "Double": .double, "Float": .float, "Date": .date, "Data": .binaryData,
    "UUID": .uuid, "URL": .uri, "Decimal": .decimal, "TimeInterval": .double,
    "Int": .integer64, "Int64": .integer64, "UInt64": .integer64, "Int32": .integer32, "UInt32": .integer32,
    "Int16": .integer16, "UInt16": .integer16, "Int8": .integer16, "UInt8": .integer16,
  ]
  private static let color = AttributeShape.composite(
    ["linearRed", "linearGreen", "linearBlue", "opacity"].map {
      .init(name: $0, shape: .plain(.float), isOptional: false)
    })
  private static let modules = ["Swift", "Foundation", "SwiftUI", "SwiftData"]

  /// `named`: what a person says of types, as `NAME=String`, `NAME={a: Double, b: Int?}` or `NAME=protocol`.
  init(named: [String] = []) throws {
    var (shapes, protocols) = ([String: AttributeShape](), Set<String>())
    for text in named {
      let (name, shape) = try TypeDescription.parse(text)
      if let shape { shapes[name] = shape } else { protocols.insert(name) }
    }
    (self.named, self.protocols) = (shapes, protocols)
  }

  /// Whether a person says that a type is a protocol.
  func isProtocol(_ type: TypeName) -> Bool { protocols.contains(type.text.filter { !$0.isWhitespace }) }

  /// What a person says of a type.
  func stated(_ type: TypeName) -> AttributeShape? {
    named.isEmpty ? nil : named[type.text.filter { !$0.isWhitespace }]
  }

  /// A type of another module.
  static func shape(_ names: [String]) -> AttributeShape? {
    var names = names
    if names.count > 1, modules.contains(names[0]) { names.removeFirst() }
    if names == ["Color", "Resolved"] { return color }
    return names.count == 1 ? plain[names[0]].map { .plain($0) } : nil
  }

  /// Whether arrays of the type were seen, or are of the same kind.
  static func isArrayElement(_ type: TypeName) -> Bool {
    if case .named(let names) = type { names.last.map { plain[$0] != nil } ?? false } else { false }
  }

  /// The type of a raw value; nil for what no store was seen with.
  static func isRaw(_ type: AttributeType) -> Bool {
    [.string, .integer16, .integer32, .integer64, .double, .float].contains(type)
  }
}
