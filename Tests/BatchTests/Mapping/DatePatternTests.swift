import Foundation
import Testing

@testable import MappingModels

@Suite("Date patterns")
struct DatePatternTests {
  @Test(
    "Dates that Foundation writes are read as the same instants, and written as the same texts",
    arguments: [
      "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", "yyyy-MM-dd HH:mm:ss Z", "d.M.y, H:m:s", "yyyyMMddHHmmssSSS",
      "M/d/yyyy h:mm:ss a",
      "yyyy-MM-dd'T'HH:mm:ssXXX", "'on' dd 'o''clock' MM y HH mm ss", "yyyy-MM-dd'T'HH:mm:ssXX",
      "yyyy-MM-dd HH:mm:ss z",
    ])
  func foundation(format: String) throws {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = format
    let pattern = try #require(DatePattern(format))
    var state: UInt64 = 77
    for _ in 0..<300 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      // Years 1602 to 2400, where Foundation's calendar is the Gregorian one.
      let seconds = Double(Int64(state >> 20) % 25_180_000_000) - 12_590_000_000
      let text = formatter.string(from: Date(timeIntervalSinceReferenceDate: seconds))
      #expect(pattern.seconds(text) == seconds, "\(text)")
      #expect(pattern.string(seconds) == text)
    }
  }

  @Test("Zones and fractions count")
  func zones() throws {
    let zoned = try #require(DatePattern("yyyy-MM-dd HH:mm:ss.SSSXXX"))
    #expect(zoned.seconds("2001-01-01 02:00:00.250+02:00") == 0.25)
    #expect(zoned.seconds("2001-01-01 00:00:00.000Z") == 0)
    let offset = try #require(DatePattern.offset(ofZone: "-05:30"))
    let fixed = try #require(DatePattern("yyyy-MM-dd", offset: offset))
    #expect(fixed.seconds("2001-01-01") == 19_800)
    #expect(DatePattern.offset(ofZone: "Europe/Berlin") == nil)
  }

  @Test(
    "Texts that are no such date are none",
    arguments: ["", "2001-02-29 00:00", "2001-13-01 00:00", "2001-1-1", "2001-01-01 24:00", "2001-01-01 00:00 ", "x"])
  func refused(text: String) throws {
    let pattern = try #require(DatePattern("yyyy-MM-dd HH:mm"))
    #expect(pattern.seconds(text) == nil)
  }

  @Test(
    "Patterns with other letters, or open apostrophes, are refused", arguments: ["EEE", "yy", "MMM", "'a", "", "QQ"])
  func patterns(format: String) { #expect(DatePattern(format) == nil) }
}
