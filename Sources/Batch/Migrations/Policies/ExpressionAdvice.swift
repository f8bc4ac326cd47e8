import CoreDataModel
import RunSupport

// What to write in place of names that mean nothing in an expression.
extension ExpressionDamage {
  /// SELF, or a property's name alone, which means a property of it.
  static var bareName: ExpressionDamage {
    ExpressionDamage(
      "has SELF, or a name without an object before it, which is nothing here",
      hint: "Write $source.NAME for a property")
  }

  static func unknown(variable name: String, known: [String]) -> ExpressionDamage {
    // $item may be meant where it is nothing yet.
    let near = NearName.find(name, in: known + ["source", "destination", "item", "previous"])
    let isFree = ["item", "previous"].contains(near) && !known.contains(near ?? "")
    let hint = near.map {
      isFree ? "If $\($0) is meant, it needs forEach in the rule, or over in the value" : "Write $\($0)"
    }
    return ExpressionDamage("has $\(name), which is nothing here", hint: near == name ? nil : hint)
  }

  /// A call of the policy of a mapping that has none.
  static func unnamed(_ function: String) -> ExpressionDamage {
    ExpressionDamage(
      "calls \(function) of the policy, and the entity mapping names none",
      hint: "Name the policy's class in the mapping, or write the value as an expression")
  }

  static func unknown(function name: String) -> ExpressionDamage {
    guard name == "UUID" else { return ExpressionDamage("calls \(name) of what has no such function") }
    return ExpressionDamage(
      "makes a UUID by code", hint: "In a mapping file write { uuid: repeatable }, or { uuid: random }")
  }
}
