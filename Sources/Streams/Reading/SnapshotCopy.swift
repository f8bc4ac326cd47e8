extension DatabaseSnapshot {
  /// Writes the pages of this state into an empty file, those of the log in their places, in pieces of 1 MiB.
  ///
  /// - Throws: ``StreamsError``.
  public func copy(to target: any File) throws {
    let size = geometry.pageSize
    let most = UInt64(max(1, (1 << 20) / size))
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(most) * size, alignment: 8)
    defer { buffer.deallocate() }
    // The page with SQLite's lock bytes holds nothing, and may be missing at the end.
    let (last, hole) = (UInt64(pageCount), UInt64(geometry.lockBytePage))
    var page: UInt64 = 1
    while page <= last {
      var count = min(most, last - page + 1)
      if page < hole { count = min(count, hole - page) }
      if page != hole {
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(Int(count) * size)])
        try read(run: UInt32(page), count: Int(count), into: part)
        try target.write(UnsafeRawBufferPointer(part), at: (page - 1) * UInt64(size))
      } else {
        count = 1
      }
      page += count
    }
    try target.truncate(to: last * UInt64(size))
  }
}
