extension StreamsError {
  /// The same error, with the cell that leads to its page: one that concerns a page as a whole names no cell of its
  /// own. `parents` are the pages above, from the root on. A root is reached from the schema.
  func reached(through parents: [(number: UInt32, buffer: PageBuffer)], _ snapshot: DatabaseSnapshot) -> StreamsError {
    guard code == .damagedDatabase, cell == nil, let page else { return self }
    for (number, buffer) in parents.reversed() {
      let bytes = UnsafeRawBufferPointer(buffer.bytes)
      guard let parent = try? TreePage(number: number, bytes: bytes, snapshot: snapshot), parent.isInterior,
        let index = (0...parent.cellCount).first(where: { (try? parent.child($0)) == page })
      else { continue }
      var located = self
      located.message +=
        index < parent.cellCount
        ? ", to which cell \(index) of page \(number) leads" : ", to which page \(number) leads behind its last cell"
      return located
    }
    return self
  }
}
