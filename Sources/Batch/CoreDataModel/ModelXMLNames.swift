/// Words of model files (C.2), for reading and for writing.
enum ModelXMLNames {
  /// The name that Xcode gives to the fetch request of every fetched property.
  static let fetchedPropertyRequest = "fetchedPropertyFetchRequest"
  /// Attributes of the element `model` that are the same in every file of Xcode 4 and later.
  static let fixed = [("type", "com.apple.IDECoreDataModeler.DataModel"), ("documentVersion", "1.0")]
  /// The order in which Xcode writes the attributes of `model` that say something about Xcode.
  static let settings = [
    "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "macOSVersion", "iOSVersion", "sourceLanguage",
  ]

  static func type(_ name: String) -> AttributeType? { types[name] }

  static func name(_ type: AttributeType) -> String {
    switch type {
    case .undefined: "Undefined"
    case .integer16: "Integer 16"
    case .integer32: "Integer 32"
    case .integer64: "Integer 64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .boolean: "Boolean"
    case .date: "Date"
    case .binaryData: "Binary"
    case .uuid: "UUID"
    case .uri: "URI"
    case .transformable: "Transformable"
    case .objectID: "ObjectID"
    case .composite: "Composite"
    }
  }

  private static let types: [String: AttributeType] = {
    let raw = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1800, 2000, 2100] as [Int32]
    let all = raw.compactMap(AttributeType.init)
    var types = Dictionary(uniqueKeysWithValues: all.map { (name($0), $0) })
    types["Object ID"] = .objectID
    return types
  }()
}
