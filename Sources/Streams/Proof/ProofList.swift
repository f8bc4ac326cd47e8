/// Values that are gone through for every row, without counting references.
final class ProofList<Element> {
  let all: UnsafeMutableBufferPointer<Element>

  init(_ elements: [Element]) {
    all = .allocate(capacity: elements.count)
    _ = all.initialize(from: elements)
  }

  deinit {
    all.deinitialize()
    all.deallocate()
  }
}
