import Testing

@testable import PlainLoads

@Suite("Decimal numbers as text")
struct DecimalTextTests {
  @Test(
    "They have no exponent",
    arguments: [
      (0, "0"), (12.5, "12.5"), (-12.5, "-12.5"), (1e-6, "0.000001"), (-1.25e-7, "-0.000000125"), (3, "3"),
      (1e20, "100000000000000000000"), (-1.5e19, "-15000000000000000000"), (0.1, "0.1"), (-0.0, "0"),
    ])
  func plain(value: Double, text: String) { #expect(DecimalText.text(value) == text) }

  @Test("They mean the same number, whatever it is")
  func same() {
    var random = ExampleRandom(state: 5)
    for _ in 0..<20_000 {
      let bits = UInt64(random.next(1 << 30)) << 34 | UInt64(random.next(1 << 30)) << 4 | UInt64(random.next(16))
      let value = Double(bitPattern: bits)
      guard value.isFinite else { continue }
      let text = DecimalText.text(value)
      #expect(Double(text) == value && !text.contains("e"), "\(value): \(text)")
    }
  }
}
