import CoreDataModel
import CoreDataStore
import RunSupport

/// The sums of an account: everything is in one of them, or is said not to be counted.
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
    let units: [(AccountLine.Kind, String)] = [(.entity, "object"), (.attribute, "value"), (.relationship, "link")]
    let isCounted = account.lines.contains { $0.count != nil }
    let parts = !isCounted ? [] : units.compactMap { Self.part(account.lines, of: $0, unit: $1) }
    text = parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private static func part(_ lines: [AccountLine], of kind: AccountLine.Kind, unit: String) -> String? {
    var all: UInt64 = 0
    var shares = words.map { (count: UInt64(0), word: $0.1) }
    shares += ["left out", "rejected", "cleared"].map { (0, $0) }
    // Of values, what is not carried is lost.
    let cleared = kind == .attribute ? words.count - 1 : shares.count - 1
    for index in lines.indices where lines[index].kind == kind && lines[index].holdsData {
      guard let count = lines[index].count else { continue }
      all &+= count
      let fate = lines[index].fate
      if let place = words.firstIndex(where: { $0.0 == fate }) { shares[place].count &+= lines[index].share }
      shares[words.count].count &+= lines[index].leftOut ?? 0
      shares[words.count + 1].count &+= lines[index].rejected ?? 0
      shares[cleared].count &+= lines[index].cleared ?? 0
    }
    let told = shares.filter { $0.count > 0 }.map { "\($0.count.grouped) \($0.word)" }
    let counted = all > 0 ? ["\(all.counted(unit)) (\(told.joined(separator: ", ")))"] : []
    let isPartial = lines.contains { $0.kind == kind && $0.holdsData && $0.count == nil }
    let parts = counted + (isPartial ? ["\(unit)s that are not counted"] : [])
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
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
