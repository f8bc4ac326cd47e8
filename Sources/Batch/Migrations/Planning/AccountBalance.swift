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
    let kinds: [(AccountLine.Kind, String)] = [(.entity, "objects"), (.attribute, "values"), (.relationship, "links")]
    let parts = kinds.compactMap { kind, unit in
      Self.part(account.lines.filter { $0.kind == kind && $0.holdsData && $0.count != nil }, unit)
    }
    text = parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private static func part(_ lines: [AccountLine], _ unit: String) -> String? {
    let sum = lines.reduce(UInt64(0)) { $0 &+ ($1.count ?? 0) }
    guard sum > 0 else { return nil }
    let leftOut = lines.reduce(UInt64(0)) { $0 &+ ($1.isGone ? 0 : $1.leftOut ?? 0) }
    var shares = words.map { fate, word in
      (
        lines.reduce(UInt64(0)) { $0 &+ ($1.fate == fate ? ($1.count ?? 0) &- ($1.isGone ? 0 : $1.leftOut ?? 0) : 0) },
        word
      )
    }
    shares.append((leftOut, "left out"))
    return
      "\(sum.grouped) \(unit) (\(shares.filter { $0.0 > 0 }.map { "\($0.0.grouped) \($0.1)" }.joined(separator: ", ")))"
  }
}

extension VersionAccount {
  /// What was counted, and where it goes: a line for people. Nil if nothing was counted.
  public var balance: String? { AccountBalance(self).text.map { "\(source) to \(destination): \($0)" } }

  /// What inference would do with one version's objects, counted where a store of that version is at hand. Nil if
  /// nothing can be inferred.
  ///
  /// - Throws: ``BatchError``.
  public static func foreseen(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, _ reader: StoreReader? = nil
  ) throws -> VersionAccount? {
    let (hashes, target) = (source.versionHashes, destination.versionHashes)
    guard hashes != target,
      let step = try? MigrationStep.inferred(from: source, hashes, to: destination, target, reason: "")
    else {
      return nil
    }
    guard let reader else { return step.lines().account }
    return try PlanAccounts([step], reader: reader, binding: StoreBinding(reader, model: source), counts: true).accounts
      .first
  }
}
