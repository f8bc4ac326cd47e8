import Batch

/// A step between two consecutive versions of the sources.
struct LockStep: Encodable {
  enum Kind: String, Encodable { case equal, lightweight, mapping }

  let from: String
  let to: String
  let kind: Kind
  /// Why it cannot be inferred; empty if it can.
  let reasons: [String]
  /// What an inferred step drops: entities, and properties as `Book.title`.
  let dropped: [String]

  init(_ step: ModelInspection.Step, from source: ManagedObjectModel, to destination: ManagedObjectModel) throws {
    (from, to, reasons) = (step.from, step.to, step.reasons)
    kind = step.isEqual ? .equal : step.isInferable ? .lightweight : .mapping
    let account = kind == .lightweight ? try VersionAccount.foreseen(from: source, to: destination) : nil
    let gone = account?.lines.filter { [.dropped, .lost, .replaced].contains($0.fate) } ?? []
    dropped = gone.toldWithEntities.filter(\.holdsData).map(\.amount)
  }

  /// `1.0.0 to 2.0.0: lightweight, drops Book.title`
  var text: String { "\(from) to \(to): \(verdict)" }

  private var verdict: String {
    switch kind {
    case .equal: "the same hashes, nothing to migrate"
    case .lightweight:
      dropped.isEmpty ? "lightweight, drops nothing" : "lightweight, drops \(dropped.joined(separator: ", "))"
    case .mapping: "needs a mapping model or code of its own: \(reasons.joined(separator: "; "))"
    }
  }
}
