import Streams

/// Objects of the destination whose values can still be read: what policies have made so far, until it takes too much
/// memory. Then the entity with the most is forgotten, and stays so.
final class RememberedObjects {
  private let most: Int
  private var bytes = 0
  /// By Z_ENT, in the order in which they were made.
  private var objects: [Int: [NSManagedObject]] = [:]
  private var sizes: [Int: Int] = [:]
  private var byKey: [Int: [Int64: NSManagedObject]] = [:]
  private var forgotten: Set<Int> = []
  private var indexes: [Int: [String: [Value: [NSManagedObject]]]] = [:]

  init(bytes: Int) { most = bytes }

  /// Whether objects of an entity, by Z_ENT, are remembered.
  func takes(_ number: Int) -> Bool { forgotten.isEmpty || !forgotten.contains(number) }

  /// Whether any entity was forgotten.
  var isWhole: Bool { forgotten.isEmpty }

  /// All objects of an entity, in the order in which they were made.
  func all(_ number: Int) -> [NSManagedObject] { objects[number] ?? [] }

  /// All objects.
  var all: [NSManagedObject] { objects.sorted { $0.key < $1.key }.flatMap(\.value) }

  /// The object of a key in the table of an entity.
  func object(_ kind: ManagedEntity, _ key: Int64) -> NSManagedObject? {
    if let found = byKey[kind.number]?[key] { return found }
    guard byKey.count > 1 else { return nil }
    for (number, found) in byKey where number != kind.number {
      if let object = found[key], object.kind.isSameTable(kind) { return object }
    }
    return nil
  }

  /// Takes an object that is written now.
  func keep(_ object: NSManagedObject) {
    let (number, size) = (object.kind.number, object.known?.bytes ?? 0)
    guard byKey[number, default: [:]].updateValue(object, forKey: object.key) == nil else { return }
    objects[number, default: []].append(object)
    for (name, var index) in indexes[number] ?? [:] {
      guard let value = object.known?.attributes[name] else { continue }
      indexes[number]?[name] = nil
      index[value, default: []].append(object)
      indexes[number]?[name] = index
    }
    add(size, number)
  }

  /// More is remembered of an entity.
  func add(_ size: Int, _ number: Int) {
    sizes[number, default: 0] += size
    bytes += size
    while bytes > most, let largest = sizes.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key {
      forget(largest)
    }
  }

  private func forget(_ number: Int) {
    let kind = objects[number]?.first?.kind
    for object in objects[number] ?? [] { object.known = nil }
    (objects[number], byKey[number], indexes[number]) = (nil, nil, nil)
    forgotten.insert(number)
    bytes -= sizes.removeValue(forKey: number) ?? 0
    guard let kind else { return }
    for object in objects.values.joined() { object.known?.forget(linksTo: kind) }
  }

  /// An attribute of an object has another value.
  func changed(_ object: NSManagedObject, _ name: String) { indexes[object.kind.number]?[name] = nil }

  /// The objects of an entity with a value.
  func objects(_ number: Int, where name: String, is value: Value) -> [NSManagedObject] {
    if let index = indexes[number]?[name] { return index[value] ?? [] }
    var index: [Value: [NSManagedObject]] = [:]
    for object in all(number) { index[object.known?.attributes[name] ?? .null, default: []].append(object) }
    indexes[number, default: [:]][name] = index
    return index[value] ?? []
  }

  func removeAll() {
    for object in objects.values.joined() { object.known = nil }
    (objects, byKey, indexes, sizes, bytes) = ([:], [:], [:], [:], 0)
  }
}
