import Foundation
import Streams
import Testing

@testable import LoadTables
@testable import PostgresLoads
@testable import RunSupport

@Suite("Values as fields of binary COPY") struct CopyValuesTests {
  @Test(
    "Decimal numbers have PostgreSQL's digits to the base of 10,000",
    arguments: [
      // Groups, weight, scale: as `SELECT numeric_send('…')` shows them.
      ("0", [], 0, 0), ("1", [1], 0, 0), ("-1.5", [1, 5000], 0, 1), ("12345", [1, 2345], 1, 0), ("0.0001", [1], -1, 4),
      ("0.00001", [1000], -2, 5), ("1e20", [1], 5, 0), ("1.5e-7", [15], -2, 8), ("100000000", [1], 2, 0),
      ("0.10", [1000], -1, 2),
      ("+12.340", [12, 3400], 0, 3), ("1E2", [100], 0, 0), ("000", [], 0, 0), ("-0.00", [], 0, 2),
      ("9999.9999", [9999, 9999], 0, 4),
    ] as [(String, [Int16], Int16, Int16)])
  func numeric(text: String, groups: [Int16], weight: Int16, scale: Int16) throws {
    let number = try #require(Array(text.utf8).withUnsafeBytes { NumericText($0) })
    #expect(number.groups == groups && number.weight == weight && number.scale == scale, "\(number)")
    #expect(number.isNegative == (text.hasPrefix("-") && !groups.isEmpty))
  }

  @Test(
    "What is no decimal number is none",
    arguments: ["", "-", ".", "1e", "1e99999", "NaN", "1x", "e5", "1 ", "0x10", "1e--2"])
  func noNumber(text: String) { #expect(Array(text.utf8).withUnsafeBytes { NumericText($0) } == nil) }

  @Test("Text with NUL, or that is not UTF-8, is told from text, also where pieces part a character")
  func texts() {
    func check(_ bytes: [UInt8]) -> TextCheck.Result { bytes.withUnsafeBytes { TextCheck.check($0) } }
    let good = Array("häß€🐎 plain text of more than eight bytes".utf8)
    #expect(check(good) == .good && check([]) == .good)
    for place in [0, 7, 8, 9, 20] {
      var bytes = Array("plain text of more than eight bytes".utf8)
      bytes[place] = 0
      #expect(check(bytes) == .hasNul, "\(place)")
      bytes[place] = 0xFF
      #expect(check(bytes) == .notUTF8, "\(place)")
    }
    for cut in 0...good.count {
      var pieces = TextPieces()
      for piece in [good[..<cut], good[cut...]] {
        #expect(Array(piece).withUnsafeBytes { pieces.add($0) } == .good, "\(cut)")
      }
      #expect(pieces.isWhole)
    }
    var pieces = TextPieces()
    _ = [0x61, 0xE2, 0x82].withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
      pieces.add(UnsafeRawBufferPointer(rebasing: bytes[..<1]))
    }
    _ = ([0xE2, 0x82] as [UInt8]).withUnsafeBytes { pieces.add($0) }
    #expect(!pieces.isWhole)
    #expect(([0x41] as [UInt8]).withUnsafeBytes { pieces.add($0) } == .notUTF8)
  }

  @Test("What a server sends that is not COPY's data ends with an error, and reads nothing beyond it")
  func brokenMessages() throws {
    var random = SeededRandom(20_261_123)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      bytes.withUnsafeBytes { message in
        var rest = message
        while let row = try? CopyReader.nextRow(&rest, "t") { #expect(row.count <= message.count) }
      }
      let headed = CopyFormat.header + bytes
      _ = headed.withUnsafeBytes { try? CopyReader.afterHeader($0, "t").count }
    }
    #expect(throws: BatchError.self) {
      try ([0, 1, 0x7F, 0xFF, 0xFF, 0xFF] as [UInt8]).withUnsafeBytes {
        var rest = $0
        _ = try CopyReader.nextRow(&rest, "t")
      }
    }
  }
}
