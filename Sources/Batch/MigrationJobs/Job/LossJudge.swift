import Foundation
import Migrations
import RunSupport
import Streams

/// Judges what a migration would lose, or has lost: nobody's will is taken for granted but that of the version history.
struct LossJudge {
  private static let mostNamed = 12

  /// A part of the losses, and why they are.
  struct Finding {
    var reason: String
    var lines: [AccountLine]
  }

  let consent: LossConsent

  /// What the account of a version loses without consent. Lines of which nobody has counted anything are among them;
  /// those that count nothing are not.
  func lost(_ account: VersionAccount) -> [AccountLine] {
    let lost = account.lines.filter { $0.fate == .lost && $0.holdsData && !$0.isEmpty }
    let unfit = account.lines.compactMap(\.unfitLinks).filter { $0.fate == .lost }
    return lost.filter { !consent.allows($0) }.toldWithEntities + unfit.filter { !consent.allows($0) }
  }

  /// Objects that filters leave out without consent.
  func filtered(_ account: VersionAccount) -> [AccountLine] {
    account.lines.compactMap { line in
      guard line.kind == .entity, line.leftOutBy == .filter, let count = line.leftOut, count > 0, !consent.allows(line)
      else { return nil }
      var found = line
      (found.count, found.leftOut, found.rejected) = (count, nil, nil)
      return found
    }
  }

  /// What the finished steps have lost without consent.
  func findings(_ accounts: [StepAccount]) -> [Finding] {
    accounts.flatMap { step in
      step.versions.flatMap { version in
        let pair = "\(version.source) to \(version.destination)"
        return [
          Finding(reason: "the step \(pair) loses", lines: lost(version)),
          Finding(reason: "the filters of the step \(pair) leave out", lines: filtered(version)),
        ]
      }
    }.filter { !$0.lines.isEmpty }
  }

  /// The findings as one sentence.
  static func text(_ findings: [Finding]) -> String {
    findings.map { "\($0.reason) \(list($0.lines))" }.joined(separator: "; ")
  }

  private static func list(_ lines: [AccountLine]) -> String {
    let named = lines.prefix(mostNamed).map(\.amount)
    let rest = lines.dropFirst(mostNamed)
    guard !rest.isEmpty else { return named.joined(separator: ", ") }
    let share = rest.reduce(0) { $0 + $1.share }
    let number = rest.contains { $0.count == nil } ? "" : "\(share.grouped) of "
    return named.joined(separator: ", ") + " and \(number)\(rest.count.counted("other"))"
  }

  /// The options that allow the findings.
  static func options(_ findings: [Finding]) -> [String] {
    ["--drop"] + findings.flatMap(\.lines).map(\.path).uniqued
  }
}
