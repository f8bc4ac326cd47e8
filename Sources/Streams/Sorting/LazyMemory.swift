import Glibc

/// A range of addresses that takes memory only where it was written, and can give it back.
final class LazyMemory: @unchecked Sendable {
  // Sendable by discipline: it is where the memory is, and no more; one owner at a time uses that.
  let base: UnsafeMutableRawPointer
  let byteCount: Int
  /// Bytes from the beginning on that are in use, or that the system was asked for.
  private var prepared = 0
  /// Bytes from the beginning on that are there from earlier use.
  private var left = 0

  init(byteCount: Int, path: String) throws {
    let found = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard let found, found != MAP_FAILED else { throw StreamsError.system(errno, "take memory to sort", path: path) }
    (base, self.byteCount) = (found, byteCount)
  }

  deinit { munmap(base, byteCount) }

  /// Has the system give the memory of these bytes at once, as far as it is not there: that is cheaper than page by page.
  /// All bytes before them are in use, and whoever asks is about to write all of them. Systems that cannot do so give it
  /// page by page.
  func prepare(_ bytes: Range<Int>) {
    guard bytes.upperBound > prepared else { return }
    // Only whole pages, and no call for one of them.
    let first = (max(bytes.lowerBound, prepared) + Self.page - 1) / Self.page
    let count = min(bytes.upperBound, byteCount) / Self.page - first
    if count > 1 { madvise(base + first * Self.page, count * Self.page, Self.populateForWriting) }
    prepared = bytes.upperBound
  }

  private static let page = Int(sysconf(Int32(_SC_PAGESIZE)))
  /// MADV_POPULATE_WRITE of Linux 5.14, which older headers do not have.
  private static let populateForWriting: CInt = 23

  /// The contents, so many bytes, are of no use any longer, but their memory stays for what comes.
  func leave(_ used: Int) { left = max(left, used, prepared) }

  /// Memory from earlier use behind so many bytes that are in use.
  func kept(behind used: Int) -> Int { max(0, left - used) }

  /// Forgets the contents behind so many bytes, and takes no memory for them any longer.
  func giveBack(behind used: Int) {
    let start = min((used + Self.page - 1) / Self.page * Self.page, byteCount)
    if start < byteCount { madvise(base + start, byteCount - start, MADV_DONTNEED) }
    (prepared, left) = (min(prepared, used), min(left, used))
  }
}
