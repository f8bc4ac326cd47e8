/// An object that is open from its making to the end of a call, and may then stand for another one.
protocol ReusedObject: AnyObject {
  var key: Int64 { get }
  var table: Int { get }
  /// Which objects it is like.
  var kind: Int { get }

  func open(key: Int64)
  func refer(to key: Int64)
  func close()
}

/// The destination objects that a policy's call has made, in order, and the memory of earlier ones: most objects live
/// for one call, so one that nobody refers to any longer is used again.
final class OpenObjects<Object: ReusedObject> {
  /// Objects that are alike: of one entity, or of one mapping.
  private struct Kind {
    var objects: ContiguousArray<Object> = []
    /// How many of them are open.
    var used = 0
    var reference: Object?
  }

  /// Objects of a kind that are kept for the next call.
  private static var mostKept: Int { 256 }
  private let kinds: UnsafeMutableBufferPointer<Kind>
  /// Kept alive by `kinds`.
  @exclusivity(unchecked) private var order: [Unmanaged<Object>] = []
  @exclusivity(unchecked) private var largest = 0

  /// Prepares for objects of that many kinds.
  init(kinds count: Int) {
    kinds = .allocate(capacity: count)
    kinds.initialize(repeating: Kind())
  }

  deinit {
    kinds.deinitialize()
    kinds.deallocate()
  }

  /// Opens an object of a kind.
  func open(_ kind: Int, key: Int64, _ create: () -> Object) -> Object {
    let place = kinds[kind].used
    if place == kinds[kind].objects.count {
      kinds[kind].objects.append(create())
    } else if !isKnownUniquelyReferenced(&kinds[kind].objects[place]) {
      kinds[kind].objects[place] = create()
    }
    kinds[kind].used = place + 1
    largest = max(largest, place + 1)
    let object = kinds[kind].objects[place]
    object.open(key: key)
    order.append(Unmanaged.passUnretained(object))
    return object
  }

  /// An object of a kind that is not open.
  func reference(_ kind: Int, key: Int64, _ create: () -> Object) -> Object {
    if kinds[kind].reference == nil || !isKnownUniquelyReferenced(&kinds[kind].reference) {
      kinds[kind].reference = create()
    }
    guard let reference = kinds[kind].reference else { return create() }
    reference.refer(to: key)
    return reference
  }

  /// The object opened last that has this key in a table.
  func find(table: Int, key: Int64) -> Object? {
    for index in order.indices.reversed() {
      let isFound = order[index]._withUnsafeGuaranteedRef { $0.key == key && $0.table == table }
      if isFound { return order[index].takeUnretainedValue() }
    }
    return nil
  }

  /// Calls `body` with every open object, in the order in which they were made; then none is open.
  func close(_ body: (Object) throws -> Void) throws {
    var index = 0
    // What the body opens is closed as well.
    while index < order.count {
      try order[index]._withUnsafeGuaranteedRef(body)
      index += 1
    }
    for place in 0..<index { order[place]._withUnsafeGuaranteedRef { kinds[$0.kind].used = 0 } }
    if largest > Self.mostKept { shrink() }
    order.removeAll(keepingCapacity: true)
  }

  /// Calls `body` with every open object; all stay open.
  func forEach(_ body: (Object) throws -> Void) rethrows {
    for object in order { try object._withUnsafeGuaranteedRef(body) }
  }

  /// Closes all open objects as if they had not been made.
  func forget() {
    for object in order {
      object._withUnsafeGuaranteedRef {
        $0.close()
        kinds[$0.kind].used = 0
      }
    }
    order.removeAll(keepingCapacity: true)
  }

  /// Closes the open object of its kind that was made last as if it had not been made.
  func forget(_ object: Object) {
    order.removeAll { $0.toOpaque() == Unmanaged.passUnretained(object).toOpaque() }
    object.close()
    kinds[object.kind].used -= 1
  }

  private func shrink() {
    for kind in kinds.indices where kinds[kind].objects.count > Self.mostKept {
      kinds[kind].objects.removeSubrange(Self.mostKept...)
    }
    largest = 0
    order = []
  }

  /// Releases all objects.
  func removeAll() {
    order = []
    for kind in kinds.indices { kinds[kind] = Kind() }
  }
}
