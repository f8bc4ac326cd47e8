import Streams
import Testing

@Suite struct ByteReaderTests {
  @Test func everyKindOfValueComesBack() throws {
    var writer = ByteWriter()
    writer.writeUInt8(0xAB)
    writer.writeUInt16(0x0102)
    writer.writeUInt32(.max)
    writer.writeUInt64(1 << 63)
    writer.writeInt64(.min)
    writer.writeInt(-5)
    writer.writeDouble(-0.0)
    writer.writeBool(true)
    writer.writeBytes([1, 2])
    writer.writeString("Ærø")
    writer.writeOptional(Int?.none) { $0.writeInt($1) }
    writer.writeOptional(3) { $0.writeInt($1) }
    writer.writeArray(["a", "b"]) { $0.writeString($1) }
    var reader = ByteReader(writer.bytes, subject: "sample")
    #expect(try reader.readUInt8() == 0xAB)
    #expect(try reader.readUInt16() == 0x0102)
    #expect(try reader.readUInt32() == .max)
    #expect(try reader.readUInt64() == 1 << 63)
    #expect(try reader.readInt64() == .min)
    #expect(try reader.readInt() == -5)
    #expect(try reader.readDouble().sign == .minus)
    #expect(try reader.readBool())
    #expect(try reader.readBytes() == [1, 2])
    #expect(try reader.readString() == "Ærø")
    #expect(try reader.readOptional { try $0.readInt() } == nil)
    #expect(try reader.readOptional { try $0.readInt() } == 3)
    #expect(try reader.readArray { try $0.readString() } == ["a", "b"])
    try reader.finish()
  }

  @Test func numbersAreLittleEndian() {
    var writer = ByteWriter()
    writer.writeUInt32(0x0102_0304)
    writer.writeString("é")
    #expect(writer.bytes == [4, 3, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0xC3, 0xA9])
  }

  @Test func everyTruncationIsAnErrorThatNamesItsPlace() throws {
    var writer = ByteWriter()
    writer.writeUInt64(5)
    writer.writeString("text")
    writer.writeArray([1, 2]) { $0.writeInt($1) }
    for length in 0..<writer.bytes.count {
      let error = #expect(throws: StreamsError.self) {
        var reader = ByteReader(Array(writer.bytes[..<length]), subject: "section rows")
        _ = try reader.readUInt64()
        _ = try reader.readString()
        _ = try reader.readArray(elementSize: 8) { try $0.readInt() }
      }
      #expect(error?.code == .damagedCheckpoint)
      #expect(error?.message.hasPrefix("section rows, byte ") == true)
    }
  }

  @Test(arguments: [Int64.max, Int64.min, -1, 1 << 40]) func lengthsThatLieAreErrors(length: Int64) {
    var writer = ByteWriter()
    writer.writeInt64(length)
    writer.writeRaw([1, 2, 3])
    let reader = ByteReader(writer.bytes, subject: "s")
    #expect(throws: StreamsError.self) {
      var reader = reader
      _ = try reader.readBytes()
    }
    #expect(throws: StreamsError.self) {
      var reader = reader
      _ = try reader.readArray { try $0.readUInt8() }
    }
    #expect(throws: StreamsError.self) {
      var reader = reader
      _ = try reader.readRaw(Int(length))
    }
  }

  @Test func capsTextAndLeftoversAreChecked() throws {
    var writer = ByteWriter()
    writer.writeBytes([0xFF, 0xFE])
    let reader = ByteReader(writer.bytes, subject: "s")
    var capped = reader
    #expect(throws: StreamsError.self) { try capped.readBytes(cap: 1) }
    var text = reader
    #expect(throws: StreamsError.self) { try text.readString() }
    #expect(throws: StreamsError.self) { try reader.finish() }
    var flag = ByteReader([2], subject: "s")
    #expect(throws: StreamsError.self) { try flag.readBool() }
  }
}
