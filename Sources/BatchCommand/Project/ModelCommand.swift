import ArgumentParser

/// A command that takes models, and so what a file `godwit.yaml` says of them.
protocol ModelCommand: ParsableCommand {
  var named: ModelArguments { get }
  /// The store beside which the file may lie.
  var place: String? { get }
  /// Whether mapping models mean anything to it.
  var takesMappings: Bool { get }
  /// Whether the file means anything to it, as it was called.
  var readsProject: Bool { get }
}

extension ModelCommand {
  var place: String? { nil }
  var takesMappings: Bool { true }
  var readsProject: Bool { true }
}
