import RunSupport
import Streams
import Yams

/// A place in a mapping file: what stands there, and how messages name it.
package struct MappingNode {
  /// A plain word of YAML, or a text.
  enum Scalar {
    case value(Value)
    /// A text that may be an expression; `isQuoted` where quotes or a block say that it is a text.
    case text(String)
  }

  let node: Node
  package let path: String
  /// Where errors are kept, so that reading goes on; nil if the first one ends it.
  var faults: MappingFaults?

  init(node: Node, path: String, faults: MappingFaults? = nil) {
    (self.node, self.path, self.faults) = (node, path, faults)
  }

  package var line: Int { node.mark?.line ?? 1 }

  package func failure(_ message: String, _ hint: String? = nil) -> BatchError {
    BatchError(.badMapping, "line \(line): \(message)", hint: hint, path: path)
  }

  private func inner(_ node: Node) -> MappingNode { MappingNode(node: node, path: path, faults: faults) }

  /// The keys and what stands under them, in the order of the file; no key twice. Nil if there is no mapping.
  package var entries: [(name: String, node: MappingNode)]? {
    guard let mapping = node.mapping else { return nil }
    return mapping.map { ($0.key.scalar?.string ?? "", inner($0.value)) }
  }

  /// The elements of a list; nil if there is none.
  package var elements: [MappingNode]? { node.sequence?.map(inner) }

  /// What stands under the keys of an object. Unknown keys are errors.
  package func fields(_ object: MappingFileObject) throws -> [String: MappingNode] {
    guard let entries else { throw failure("\(object.title) has to be keys and values", object.allowed) }
    var (found, unknown): ([String: MappingNode], [BatchError]) = ([:], [])
    for (name, node) in entries {
      if object.keys.contains(name) {
        found[name] = node
      } else {
        let near = NearName.question(name, in: object.keys)
        unknown.append(node.failure("\(object.title) has no key \(name)\(near)", object.allowed))
      }
    }
    guard let last = unknown.last else { return found }
    guard let faults else { throw unknown[0] }
    unknown.dropLast().forEach(faults.add)
    // What stands under the other keys of a small object would be another fault by the missing one.
    guard object.isLarge else { throw last }
    faults.add(last)
    return found
  }

  /// The list that stands here.
  package func list(_ what: String) throws -> [MappingNode] {
    guard let elements else { throw failure("\(what) has to be a list") }
    return elements
  }

  /// The keys and values that stand here.
  func pairs(_ what: String) throws -> [(name: String, node: MappingNode)] {
    guard let entries else { throw failure("\(what) has to be keys and values") }
    return entries
  }

  /// The word, number or text that stands here; nil if there is a list or a mapping.
  var scalar: Scalar? {
    guard let scalar = node.scalar else { return nil }
    guard scalar.style == .plain else { return .text(scalar.string) }
    switch scalar.string {
    case "", "~", "null": return .value(.null)
    case "true": return .value(.integer(1))
    case "false": return .value(.integer(0))
    case let text:
      if let integer = Int64(text) { return .value(.integer(integer)) }
      let isNumber = text.utf8.allSatisfy { ($0 >= 48 && $0 < 58) || [43, 45, 46, 69, 101].contains($0) }
      return isNumber ? Double(text).map { .value(.real($0)) } ?? .text(text) : .text(text)
    }
  }

  /// The text that stands here, numbers and words as they are written.
  package func text(_ what: String) throws -> String {
    guard let text = node.scalar?.string, !text.isEmpty else { throw failure("\(what) has to be a text") }
    return text
  }

  func integer(_ what: String) throws -> Int {
    guard let text = node.scalar?.string, let integer = Int(text) else {
      throw failure("\(what) has to be a whole number")
    }
    return integer
  }

  package func flag(_ what: String) throws -> Bool {
    switch node.scalar?.string {
    case "true": return true
    case "false": return false
    default: throw failure("\(what) has to be true or false")
    }
  }
}
