/// What a thread needs to look into runs.
public final class RunMemory {
  let filterBlock = UnsafeMutableRawPointer.allocate(byteCount: RunFilter.blockBytes, alignment: 64)
  let block = UnsafeMutableRawBufferPointer.allocate(byteCount: SpilledRunFormat.blockBytes, alignment: 64)

  /// Allocates it.
  public init() {}

  deinit {
    filterBlock.deallocate()
    block.deallocate()
  }
}
