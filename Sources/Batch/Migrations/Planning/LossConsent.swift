/// What somebody allows a migration to lose, apart from what the version history of the model drops.
public struct LossConsent: Sendable, Equatable, Codable {
  /// Everything.
  public var isAll: Bool
  /// Entities, and properties as `Book.title`. An entity stands for all of its properties, too.
  public var dropped: Set<String>

  /// Allows nothing without arguments.
  public init(all: Bool = false, dropped: Set<String> = []) { (isAll, self.dropped) = (all, dropped) }

  /// Allows also what another one does.
  public func union(_ other: LossConsent) -> LossConsent {
    LossConsent(all: isAll || other.isAll, dropped: dropped.union(other.dropped))
  }

  package func allows(_ line: AccountLine) -> Bool {
    isAll || dropped.contains(line.path) || dropped.contains(line.entity)
  }
}
