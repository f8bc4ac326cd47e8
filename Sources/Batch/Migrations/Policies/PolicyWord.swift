import CoreDataModel

/// What mapping models may give to a method of a policy beyond values and objects, by the name after the dollar sign.
package enum PolicyWord: String {
  case manager, entityMapping
  case sourceContext = "manager.sourceContext"
  case destinationContext = "manager.destinationContext"

  init?(_ expression: Expression) {
    switch expression {
    case .variable(let name): self.init(rawValue: name)
    case .keyPath(.variable(let name), let path): self.init(rawValue: ([name] + path).joined(separator: "."))
    default: return nil
    }
  }
}
