/// What a column's declaration says of its values.
package struct ProofColumnRule: Sendable, Equatable {
  /// What SQLite makes of a value before it is stored. A value that it would have changed was not stored by it.
  package enum Holding: Sendable {
    case anything
    /// Numbers become texts.
    case texts
    /// Texts of numbers become numbers.
    case numbers
  }

  /// The column's place in the record.
  package var column: Int
  /// Whether it must not be NULL.
  package var isNotNull: Bool
  /// What becomes of its values.
  package var holding: Holding

  /// Makes a rule; nil if it would say nothing.
  package init?(column: Int, isNotNull: Bool, holding: Holding) {
    guard isNotNull || holding != .anything else { return nil }
    (self.column, self.isNotNull, self.holding) = (column, isNotNull, holding)
  }
}

extension ProofRecord {
  /// What became of a rule.
  enum RuleOutcome { case kept, broken, unknown }

  /// Whether a value keeps a rule; unknown of a text that is not at hand.
  @inline(__always)
  func outcome(_ rule: ProofColumnRule) -> RuleOutcome {
    guard rule.column < count else { return rule.isNotNull ? .broken : .kept }
    let type = types[rule.column]
    if type == 0 { return rule.isNotNull ? .broken : .kept }
    if type < 12 { return number(type, rule) }
    guard rule.holding == .numbers, type & 1 == 1 else { return .kept }
    guard isAtHand(rule.column) else { return .unknown }
    let text = UnsafeRawBufferPointer(start: body(rule.column), count: length(rule.column))
    return Self.isNumber(text) ? .broken : .kept
  }

  @inline(__always)
  private func number(_ type: UInt64, _ rule: ProofColumnRule) -> RuleOutcome {
    if rule.holding == .texts { return .broken }
    // What is not a number is read as NULL.
    return rule.isNotNull && type == 7 && isAtHand(rule.column) && real(rule.column).isNaN ? .broken : .kept
  }

  /// Whether a text is the text of a number: an integer or a real, with blanks around it.
  ///
  /// Source of the rules: SQLite, "Datatypes In SQLite", section 3.
  static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
    var (rest, digits) = (text[...], 0)
    func skip(_ isWanted: (UInt8) -> Bool) -> Int {
      let count = rest.prefix(while: isWanted).count
      rest = rest.dropFirst(count)
      return count
    }
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (9...13).contains(byte) }
    func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    func skipOne(_ bytes: [UInt8]) -> Bool {
      guard let first = rest.first, bytes.contains(first) else { return false }
      rest = rest.dropFirst()
      return true
    }
    _ = skip(isBlank)
    _ = skipOne([0x2B, 0x2D])
    digits += skip(isDigit)
    if skipOne([0x2E]) { digits += skip(isDigit) }
    guard digits > 0 else { return false }
    if skipOne([0x65, 0x45]) {
      _ = skipOne([0x2B, 0x2D])
      guard skip(isDigit) > 0 else { return false }
    }
    _ = skip(isBlank)
    return rest.isEmpty
  }
}
