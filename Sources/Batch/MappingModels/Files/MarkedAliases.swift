import RunSupport
import Yams

/// A YAML text whose aliases (`*name`) the parser takes for words, and the tree with what they stand for: as many values
/// as a budget allows, and no more are ever made.
struct MarkedAliases {
  /// The most values that all aliases of a file may stand for.
  static let budget = 10_000

  /// The text for the parser.
  let text: String
  private let path: String
  /// What stands in place of `*`; nil if nothing can be an alias.
  private let mark: Character?

  /// Throws `badMapping` for a text that has all signs which could stand in place of an asterisk.
  init(_ text: String, path: String) throws {
    self.path = path
    let bytes = Array(text.utf8)
    let places = bytes.indices.dropLast().filter { bytes[$0] == 42 && Self.isName(bytes[$0 + 1]) }
    guard !places.isEmpty else {
      (self.text, mark) = (text, nil)
      return
    }
    // For private use: no text has a meaning for them.
    let marks = (UInt32(0xE000)...0xE0FF).compactMap { Unicode.Scalar($0).map { Character($0) } }
    guard let mark = marks.first(where: { !text.contains($0) }) else {
      throw BatchError(.badMapping, "the file has characters for private use", hint: "Leave them out", path: path)
    }
    self.mark = mark
    var marked: [UInt8] = []
    var rest = bytes[...]
    for place in places {
      marked += rest[..<place] + Array(String(mark).utf8)
      rest = bytes[(place + 1)...]
    }
    self.text = String(decoding: marked + rest, as: UTF8.self)
  }

  private static func isName(_ byte: UInt8) -> Bool {
    byte == 45 || byte == 95 || (48...57).contains(byte) || (65...90).contains(byte & 0xDF)
  }

  /// The tree with what aliases stand for, and with `<<` carried out. Throws `badMapping` that names the line.
  func resolved(_ root: Node) throws -> Node {
    guard let mark else { return root }
    var resolver = AliasResolver(mark: mark, path: path)
    return try resolver.node(root).node
  }
}

/// Puts in place of aliases what they stand for.
private struct AliasResolver {
  /// A value, and how many values it is made of.
  typealias Counted = (node: Node, count: Int)

  let mark: Character
  let path: String
  private var known: [String: Counted] = [:]
  private var repeated = 0

  init(mark: Character, path: String) { (self.mark, self.path) = (mark, path) }

  mutating func node(_ node: Node) throws -> Counted {
    let found: Counted
    switch node {
    case .scalar(let scalar): found = try self.scalar(scalar)
    case .sequence(let sequence):
      let members = try sequence.map { try self.node($0) }
      let list = Node.Sequence(members.map { $0.node }, sequence.tag, sequence.style, sequence.mark)
      found = (.sequence(list), members.reduce(1) { $0 + $1.count })
    case .mapping(let mapping): found = try self.mapping(mapping)
    case .alias: throw failure("an alias stands where none can stand", node)
    }
    if let name = node.anchor?.rawValue { known[name] = found }
    return found
  }

  private mutating func scalar(_ scalar: Node.Scalar) throws -> Counted {
    guard scalar.style == .plain, scalar.string.first == mark else {
      var scalar = scalar
      scalar.string = scalar.string.replacing(String(mark), with: "*")
      return (.scalar(scalar), 1)
    }
    let name = String(scalar.string.dropFirst())
    guard let found = known[name] else {
      throw failure(
        "nothing before has the anchor &\(name)", .scalar(scalar),
        hint: "An expression that begins with * needs quotation marks")
    }
    repeated += found.count
    guard repeated <= MarkedAliases.budget else {
      throw failure(
        "aliases stand for more than \(MarkedAliases.budget.grouped) values", .scalar(scalar),
        hint: "Write one block for several entities, or divide the file")
    }
    return found
  }

  private mutating func mapping(_ mapping: Node.Mapping) throws -> Counted {
    var pairs: [(Node, Node)] = []
    var (count, merged) = (1, [(Node, Node)]())
    for (key, value) in mapping {
      guard key.scalar.map({ $0.style != .plain || $0.string.first != mark }) == true else {
        throw failure("a key has to be a text, and no alias", key)
      }
      let (name, content) = (try node(key), try node(value))
      count += name.count + content.count
      if name.node.scalar?.string == "<<", name.node.scalar?.style == .plain {
        guard let others = content.node.mapping else { throw failure("<< needs the alias of keys and values", key) }
        merged += others.map { ($0.key, $0.value) }
      } else {
        pairs.append((name.node, content.node))
      }
    }
    let own = Set(pairs.compactMap { $0.0.scalar?.string })
    pairs += merged.filter { !own.contains($0.0.scalar?.string ?? "") }
    return (.mapping(Node.Mapping(pairs, mapping.tag, mapping.style, mapping.mark)), count)
  }

  private func failure(_ message: String, _ node: Node, hint: String? = nil) -> BatchError {
    BatchError(.badMapping, "line \(node.mark?.line ?? 1): \(message)", hint: hint, path: path)
  }
}
