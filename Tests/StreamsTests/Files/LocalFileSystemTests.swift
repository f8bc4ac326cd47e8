import Foundation
import GRDB
import Glibc
import Testing

@testable import Streams

@Suite struct LocalFileSystemTests {
  let directory: FilesTestFolder
  let fileSystem = LocalFileSystem()

  init() throws { directory = try FilesTestFolder() }

  @Test(
    "A closed file's locks are gone at once, though a child process that has only been forked holds a copy of the descriptor"
  )
  func locksEndWithTheFile() throws {
    let path = directory.file("a")
    try fileSystem.put("text", path)
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    // The same open file description, as in a forked process.
    let copy = dup(descriptor)
    defer { close(copy) }
    let (first, second) = (LocalFile(path: path, descriptor: descriptor), try fileSystem.open(path, .update))
    #expect(try first.lock(.exclusive, start: 1 << 30, length: 2) && first.lock(.shared, start: 1 << 31, length: 510))
    #expect(try !second.lock(.exclusive, start: 1 << 30, length: 2))
    first.close()
    #expect(
      try second.lock(.exclusive, start: 1 << 30, length: 2) && second.lock(.exclusive, start: 1 << 31, length: 510))
  }

  @Test func bytesComeBackFromWhereTheyWereWritten() throws {
    let file = try fileSystem.open(directory.file("a"), .create)
    try Array("hello".utf8).withUnsafeBytes { try file.write($0, at: 3) }
    try file.sync()
    var bytes = [UInt8](repeating: 7, count: 10)
    let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    #expect(count == 8)
    #expect(bytes == [0, 0, 0] + Array("hello".utf8) + [7, 7])
    try file.truncate(to: 4)
    #expect(try file.size() == 4)
    #expect(try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 4) } == 0)
  }

  @Test func aCreatedFileIsItsOwnersAloneAndIsEmptiedOnlyByCreate() throws {
    let path = directory.file("a")
    try fileSystem.put("text", path)
    let status = try #require(try fileSystem.status(path))
    #expect(status.mode & 0o777 == 0o600)
    #expect(status.size == 4)
    #expect(try fileSystem.open(path, .updateOrCreate).size() == 4)
    #expect(try fileSystem.open(path, .update).size() == 4)
    #expect(try fileSystem.open(path, .create).size() == 0)
  }

  @Test func aMissingFileIsNoneForStatusAndRemoveAndAnErrorForOpen() throws {
    let path = directory.file("none")
    #expect(try fileSystem.status(path) == nil)
    try fileSystem.remove(path)
    for mode in [OpenMode.read, .update] {
      let error = #expect(throws: StreamsError.self) { try fileSystem.open(path, mode) }
      #expect(error?.code == .inputOutput)
      #expect(error?.path == path)
    }
  }

  @Test func aFileIsNeverCreatedThroughASymbolicLink() throws {
    let target = directory.file("target")
    try fileSystem.put("precious", target)
    #expect(symlink(target, directory.file("link")) == 0)
    for mode in [OpenMode.create, .updateOrCreate] {
      let error = #expect(throws: StreamsError.self) { try fileSystem.open(directory.file("link"), mode) }
      #expect(error?.hint?.contains("symbolic link") == true)
    }
    #expect(throws: StreamsError.self) { try fileSystem.writeAndSync([1], to: directory.file("link")) }
    #expect(try fileSystem.text(target) == "precious")
    #expect(try fileSystem.statusOfName(directory.file("link"))?.isSymbolicLink == true)
  }

  @Test func aPipeOrADirectoryInTheFilesPlaceIsRefusedWithoutWaiting() throws {
    #expect(mkfifo(directory.file("pipe"), 0o600) == 0)
    for mode in [OpenMode.read, .update, .create] {
      #expect(throws: StreamsError.self) { try fileSystem.open(directory.file("pipe"), mode) }
      #expect(throws: StreamsError.self) { try fileSystem.open(directory.path, mode) }
    }
  }

  @Test func aClosedFileFailsInsteadOfReachingAnotherFile() throws {
    let file = try fileSystem.open(directory.file("a"), .create)
    file.close()
    file.close()
    #expect(throws: StreamsError.self) { try file.size() }
    #expect(throws: StreamsError.self) { try [1].withUnsafeBytes { try file.write($0, at: 0) } }
  }

  @Test func aPositionPastWhatAFileCanHoldIsAnErrorNotATrap() throws {
    let file = try fileSystem.open(directory.file("a"), .create)
    #expect(throws: StreamsError.self) { try [1, 2].withUnsafeBytes { try file.write($0, at: .max) } }
    #expect(throws: StreamsError.self) { try file.truncate(to: .max) }
    #expect(throws: StreamsError.self) { try file.lock(.shared, start: .max, length: 1) }
  }

  @Test func aLinkIsRefusedOverAnExistingFileAndARenameReplacesIt() throws {
    try fileSystem.put("one", directory.file("1"))
    try fileSystem.put("two", directory.file("2"))
    #expect(throws: StreamsError.self) { try fileSystem.link(directory.file("1"), to: directory.file("2")) }
    try fileSystem.link(directory.file("1"), to: directory.file("3"))
    try fileSystem.rename(directory.file("2"), to: directory.file("3"))
    try fileSystem.syncDirectory(directory.path)
    #expect(try fileSystem.list(directory.path) == ["1", "3"])
    #expect(try fileSystem.text(directory.file("1")) == "one")
    #expect(try fileSystem.text(directory.file("3")) == "two")
  }

  @Test func aDirectoryIsMadeForItsOwnerAloneAndALinkInItsPlaceIsRefused() throws {
    let path = directory.file("d")
    try fileSystem.makeDirectory(path)
    try fileSystem.makeDirectory(path)
    #expect(try fileSystem.status(path)?.mode ?? 0 & 0o777 == 0o040700)
    #expect(symlink(path, directory.file("link")) == 0)
    #expect(throws: StreamsError.self) { try fileSystem.makeDirectory(directory.file("link")) }
    try fileSystem.removeDirectory(path)
    try fileSystem.removeDirectory(path)
  }

  @Test func aFullDeviceAndAQuotaHaveTheirCodeAndEveryHintSaysWhatToDo() throws {
    for number in [ENOSPC, EDQUOT] { #expect(StreamsError.system(number, "write", path: "p").code == .diskFull) }
    #expect(StreamsError.system(EIO, "write", path: "p").code == .inputOutput)
    for number in [ENOSPC, EDQUOT, EACCES, EPERM, EROFS, ELOOP, EMFILE, EFBIG, EIO, ENOLCK, ENAMETOOLONG] {
      #expect(StreamsError.system(number, "write", path: "p").hint?.isEmpty == false)
    }
    #expect(
      StreamsError.system(ENOSPC, "write", path: "/x/a").description
        == "/x/a: cannot write: No space left on device. "
        + "Free space on this file system, then start again")
  }

  @Test func availableSpaceIsKnownForAFileAndItsDirectory() throws {
    #expect(try fileSystem.availableSpace(directory.path) > 0)
    #expect(throws: StreamsError.self) { try fileSystem.availableSpace(directory.file("none")) }
  }

  @Test func readAllKeepsItsCap() throws {
    try fileSystem.put("12345", directory.file("a"))
    #expect(try fileSystem.readAll(directory.file("a"), cap: 5).count == 5)
    let error = #expect(throws: StreamsError.self) { try fileSystem.readAll(directory.file("a"), cap: 4) }
    #expect(error?.code == .tooLarge)
    // Files of /proc say that they are empty.
    #expect(try fileSystem.readAll("/proc/self/stat", cap: 4096).count > 10)
    #expect(throws: StreamsError.self) { try fileSystem.readAll("/proc/self/stat", cap: 10) }
  }

  @Test func writeDurablySyncsBeforeItRenamesAndTheDirectoryAfter() throws {
    let recording = RecordingFileSystem()
    try recording.writeDurably([1, 2, 3], to: directory.file("a"))
    let name = FilePaths.name(of: directory.path)
    #expect(
      recording.events == ["open a.new", "write a.new", "sync a.new", "rename a", "syncDirectory \(name)"])
    #expect(try fileSystem.readAll(directory.file("a"), cap: 10) == [1, 2, 3])
  }

  @Test func writeDurablyThatFailsLeavesTheOldBytes() throws {
    for event in ["open", "write", "sync", "rename"] {
      let recording = RecordingFileSystem()
      try fileSystem.put("old", directory.file("a"))
      recording.refuse(event)
      #expect(throws: StreamsError.self) { try recording.writeDurably([1], to: directory.file("a")) }
      #expect(try fileSystem.text(directory.file("a")) == "old")
    }
  }

  @Test func ownerAndModeOfAnotherFileAreTakenOver() throws {
    try fileSystem.put("a", directory.file("a"))
    try fileSystem.put("b", directory.file("b"))
    #expect(chmod(directory.file("a"), 0o640) == 0)
    try fileSystem.adopt(try #require(try fileSystem.status(directory.file("a"))), on: directory.file("b"))
    #expect(try #require(try fileSystem.status(directory.file("b"))).mode & 0o777 == 0o640)
  }
}

@Suite struct LocalFileLockTests {
  let directory: FilesTestFolder
  let fileSystem = LocalFileSystem()

  init() throws { directory = try FilesTestFolder() }

  @Test func exclusiveLocksExcludeAndEndWithTheFile() throws {
    let first = try fileSystem.open(directory.file("a"), .create)
    let second = try fileSystem.open(directory.file("a"), .update)
    let reader = try fileSystem.open(directory.file("a"), .read)
    #expect(try first.lock(.exclusive, start: 0, length: 1))
    #expect(try !second.lock(.exclusive, start: 0, length: 1))
    #expect(try !reader.lock(.shared, start: 0, length: 1))
    #expect(try reader.isExcluded(.shared, start: 0, length: 1))
    #expect(try second.lock(.exclusive, start: 1, length: 1))
    // The trap of POSIX locks: any close in the process would drop them. These must stay.
    try fileSystem.open(directory.file("a"), .read).close()
    #expect(try reader.isExcluded(.shared, start: 0, length: 1))
    first.close()
    #expect(try !reader.isExcluded(.shared, start: 0, length: 1))
    #expect(try reader.lock(.shared, start: 0, length: 1))
  }

  @Test func askingForALockTakesNone() throws {
    let first = try fileSystem.open(directory.file("a"), .create)
    let second = try fileSystem.open(directory.file("a"), .update)
    #expect(try !first.isExcluded(.exclusive, start: 0, length: 1))
    #expect(try second.lock(.exclusive, start: 0, length: 1))
  }

  @Test func theLocksKeepSQLiteOut() throws {
    let path = directory.file("a.sqlite")
    let queue = try DatabaseQueue(path: path)
    try queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
    let file = try fileSystem.open(path, .update)
    // SQLite's shared-lock bytes: file format, section on locking, 2^30 + 2 and 510 bytes.
    #expect(try file.lock(.exclusive, start: 1 << 30, length: 512))
    #expect(throws: DatabaseError.self) { try queue.write { try $0.execute(sql: "CREATE TABLE u(a)") } }
    #expect(try file.lock(.none, start: 1 << 30, length: 512))
    try queue.write { try $0.execute(sql: "CREATE TABLE u(a)") }
  }
}
