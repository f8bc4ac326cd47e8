import CoreDataModel
import CoreDataStore
import RunSupport

/// The sums of an account: everything is in one of them.
struct AccountBalance {
  private static let words: [(AccountLine.Fate, String)] = [
    (.carried, "carried"), (.renamed, "renamed"), (.converted, "converted"), (.computed, "computed"),
    (.policy, "left to policies"),
    (.replaced, "replaced"), (.dropped, "dropped"), (.lost, "lost"),
  ]

  /// `577 objects (570 carried, 7 dropped), 3204 values (3204 carried), 500 links (500 dropped)`; nil if nothing was
  /// counted.
  let text: String?

  init(_ account: VersionAccount) {
    let kinds: [(AccountLine.Kind, String)] = [(.entity, "object"), (.attribute, "value"), (.relationship, "link")]
    let parts = kinds.compactMap { kind, unit in
      Self.part(account.lines.filter { $0.kind == kind && $0.holdsData && $0.count != nil }, unit)
    }
    text = parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private static func part(_ lines: [AccountLine], _ unit: String) -> String? {
    func sum(_ count: (AccountLine) -> UInt64?) -> UInt64 { lines.reduce(0) { $0 &+ (count($1) ?? 0) } }
    let shares =
      words.map { fate, word in
        // Of values, what is not carried is lost.
        let lost = fate == .lost ? sum { $0.kind == .attribute ? $0.cleared : nil } : 0
        return (sum { $0.fate == fate ? $0.share : nil } &+ lost, word)
      }
      + [
        (sum(\.leftOut), "left out"), (sum(\.rejected), "rejected"),
        (sum { $0.kind == .attribute ? nil : $0.cleared }, "cleared"),
      ]
    let all = sum(\.count)
    guard all > 0 else { return nil }
    return
      "\(all.counted(unit)) (\(shares.filter { $0.0 > 0 }.map { "\($0.0.grouped) \($0.1)" }.joined(separator: ", ")))"
  }
}

extension VersionAccount {
  /// What was counted, and where it goes: a line for people. Nil if nothing was counted.
  public var balance: String? {
    let step = source == destination ? source : "\(source) to \(destination)"
    return AccountBalance(self).text.map { "\(step): \($0)" }
  }

  /// What inference would do with one version's objects, counted where a store of that version is at hand. Nil if
  /// nothing can be inferred.
  ///
  /// - Throws: ``BatchError``.
  public static func foreseen(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, _ reader: StoreReader? = nil
  ) throws -> VersionAccount? {
    let (hashes, target) = (source.versionHashes, destination.versionHashes)
    guard hashes != target || !source.hasColumns(of: destination),
      let step = try? MigrationStep.inferred(from: source, hashes, to: destination, target, reason: "")
    else {
      return nil
    }
    guard let reader else { return step.lines().account }
    return try PlanAccounts([step], reader: reader, binding: StoreBinding(reader, model: source), counts: true).accounts
      .first
  }
}
