/// Builds an archive as NSKeyedArchiver writes it: a table of objects that refer to each other by number. Equal texts
/// and classes are one object.
package struct ArchiveBuilder {

  package init() {

  }
  /// What stands if there is no object.
  package static let null = PropertyListValue.uid(0)

  private(set) var objects: [PropertyListValue] = [.string("$null")]
  private var texts: [[UInt8]: Int] = [:]
  private var classes: [String: Int] = [:]
  private var scalars: [PropertyListValue: Int] = [:]

  /// A number for an object that is described later.
  package mutating func reserve() -> Int {
    objects.append(.null)
    return objects.count - 1
  }

  /// Describes a reserved object. The class comes first of `names`, its parents follow.
  package mutating func describe(_ number: Int, names: [String], fields: [String: PropertyListValue]) {
    var fields = fields
    fields["$class"] = .uid(classNumber(names))
    objects[number] = .dictionary(fields)
  }

  package mutating func object(_ names: [String], _ fields: [String: PropertyListValue]) -> PropertyListValue {
    let number = reserve()
    describe(number, names: names, fields: fields)
    return .uid(number)
  }

  package mutating func text(_ text: String?) -> PropertyListValue {
    guard let text else { return Self.null }
    let bytes = Array(text.utf8)
    if let number = texts[bytes] { return .uid(number) }
    texts[bytes] = objects.count
    objects.append(.string(text))
    return .uid(objects.count - 1)
  }

  /// A number, a truth value or bytes as an object of their own.
  package mutating func scalar(_ value: PropertyListValue) -> PropertyListValue {
    if let number = scalars[value] { return .uid(number) }
    switch value {
    case .real, .float: break  // 0 and -0 are equal, but not the same.
    default: scalars[value] = objects.count
    }
    objects.append(value)
    return .uid(objects.count - 1)
  }

  package mutating func array(_ members: [PropertyListValue], isMutable: Bool = false) -> PropertyListValue {
    object((isMutable ? ["NSMutableArray"] : []) + ["NSArray", "NSObject"], ["NS.objects": .array(members)])
  }

  package mutating func set(_ members: [PropertyListValue]) -> PropertyListValue {
    object(["NSSet", "NSObject"], ["NS.objects": .array(members)])
  }

  package mutating func dictionary(
    _ entries: [(key: String, value: PropertyListValue)], isMutable: Bool = false
  ) -> PropertyListValue {
    let keys = entries.map { text($0.key) }
    return object(
      (isMutable ? ["NSMutableDictionary"] : []) + ["NSDictionary", "NSObject"],
      ["NS.keys": .array(keys), "NS.objects": .array(entries.map(\.value))])
  }

  package func bytes(root: PropertyListValue) -> [UInt8] {
    PropertyListWriter.write(
      .dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000), "$top": .dictionary(["root": root]),
        "$objects": .array(objects),
      ]))
  }

  private mutating func classNumber(_ names: [String]) -> Int {
    let name = names.first ?? "NSObject"
    if let number = classes[name] { return number }
    classes[name] = objects.count
    objects.append(.dictionary(["$classname": .string(name), "$classes": .array(names.map { .string($0) })]))
    return objects.count - 1
  }
}
