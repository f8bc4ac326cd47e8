import Batch

/// What a check says of a model: findings, and the steps between its versions.
struct LockReport: Encodable {
  let lock: String
  /// The locked versions.
  let locked: [String]
  private(set) var findings: [LockFinding] = []
  private(set) var steps: [LockStep] = []

  init(_ comparison: LockComparison, of bundle: ModelBundle, with lock: SchemaLock, _ options: LockOptions) {
    (self.lock, locked) = (options.path, lock.versions.map(\.name))
    let versions = Dictionary(bundle.versions.map { ($0.name, $0) }) { first, _ in first }
    steps = ModelInspection(bundle).steps.compactMap { step in
      guard let source = versions[step.from], let destination = versions[step.to] else { return nil }
      return try? LockStep(step, from: source, to: destination)
    }
    let isSound = comparison.isKept && comparison.unlocked.isEmpty
    // Only findings have places: sources are not read again without need.
    let places = isSound ? ModelPlaces() : ModelReader.places(paths: options.models)
    let advice = LockAdvice(bundle: bundle, places: places, options: options)
    findings = comparison.changed.flatMap { Self.findings($0, advice) }
    findings += comparison.missing.map(advice.missing)
    for version in comparison.unlocked {
      findings += steps.filter { $0.to == version.name }.flatMap { Self.findings($0, places.place($0.to)) }
    }
    findings += comparison.unlocked.map { advice.unlocked($0.name, places.place($0.name)) }
  }

  private static func findings(_ change: LockComparison.Change, _ advice: LockAdvice) -> [LockFinding] {
    let (text, next) = advice.changed(change)
    let edits = change.edits.isEmpty ? [nil] : change.edits.map(Optional.some)
    return edits.map { edit in
      let place = advice.places.place(change.version, entity: edit?.entity, property: edit?.property)
      return LockFinding(
        rule: .changed, version: change.version, entity: edit?.entity, property: edit?.property,
        message: "version \(change.version): \(edit?.description ?? "its checksum changed")", advice: text,
        next: [next.line], file: place?.file, line: place?.line)
    }
  }

  private static func findings(_ step: LockStep, _ place: ModelPlaces.Place?) -> [LockFinding] {
    let rule: LockFinding.Rule? =
      switch step.kind {
      case .equal: nil
      case .lightweight: step.dropped.isEmpty ? nil : .drop
      case .mapping: .mapping
      }
    guard let rule else { return [] }
    return [LockFinding(rule: rule, version: step.to, message: step.text, file: place?.file, line: place?.line)]
  }
}
