import Foundation
import RunSupport
import Streams

/// Who holds or held a lease. It informs a person; the kernel's lock alone decides whether the lease is held.
public struct LeaseOwner: Codable, Sendable, Equatable {
  /// The process.
  public var pid: Int32
  /// The machine's name.
  public var host: String
  /// The machine's boot, from /proc/sys/kernel/random/boot_id: a process number means nothing after the next one.
  public var bootID: String
  /// When the process began, in clock ticks after the boot: a process number is used again.
  public var processStart: UInt64
  /// Grows by one whenever the lease is taken: the higher one is the later owner.
  public var epoch: UInt64
  /// When the lease was taken, ISO 8601, UTC.
  public var started: String
  /// Random: distinguishes one taking from another.
  public var token: String

  /// The record's length in the file: one sector of any disk, so that it is never half old and half new.
  static let recordLength = 512

  /// This process, now.
  package static func current(epoch: UInt64, now: Date = Date()) -> LeaseOwner {
    LeaseOwner(
      pid: ProcessInfo.processInfo.processIdentifier,
      host: String(ProcessInfo.processInfo.hostName.prefix(64)), bootID: bootID(), processStart: processStart(),
      epoch: epoch, started: now.ISO8601Format(), token: String(UInt64.random(in: .min ... .max), radix: 16))
  }

  /// JSON, filled up with spaces to the length of a record.
  func record() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let json = Array(try encoder.encode(self))
    guard json.count < Self.recordLength else {
      throw BatchError(.failed, "the lease's record would have \(json.count) bytes")
    }
    return json + [UInt8](repeating: 0x20, count: Self.recordLength - 1 - json.count) + [0x0A]
  }

  /// What a lease file says, or nil when it says nothing that can be understood.
  package static func read(_ path: String, _ fileSystem: any FileSystem) throws -> LeaseOwner? {
    try? JSONDecoder().decode(LeaseOwner.self, from: Data(try fileSystem.readAll(path, cap: 4096)))
  }

  /// Whether it is a process of this boot of this machine.
  public var isOnThisMachine: Bool { bootID == Self.bootID() && !bootID.isEmpty }

  /// Whether it is running, and not another process that got its number. Only on this machine.
  package var isRunning: Bool { pid > 0 && processStart > 0 && Self.processStart("\(pid)") == processStart }

  private static func bootID() -> String {
    let bytes = (try? LocalFileSystem().readAll("/proc/sys/kernel/random/boot_id", cap: 128)) ?? []
    return String(String(decoding: bytes, as: UTF8.self).prefix { $0.isHexDigit || $0 == "-" })
  }

  /// Whether a signal has stopped it, as Ctrl-Z does: it is running, and does nothing. Only on this machine.
  var isSuspended: Bool { isRunning && ["T", "t"].contains(Self.stat("\(pid)", 3)) }

  static func processStart(_ process: String = "self") -> UInt64 { UInt64(stat(process, 22)) ?? 0 }

  /// A field of /proc/PID/stat by its number in proc(5), from 3 on; empty if there is none. The command's name before it
  /// may hold spaces and parentheses, so count from its end.
  private static func stat(_ process: String, _ number: Int) -> String {
    let bytes = (try? LocalFileSystem().readAll("/proc/\(process)/stat", cap: 8192)) ?? []
    guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return "" }
    let fields = bytes[end...].split(separator: UInt8(ascii: " "))
    return fields.count > number - 2 ? String(decoding: fields[number - 2], as: UTF8.self) : ""
  }
}
