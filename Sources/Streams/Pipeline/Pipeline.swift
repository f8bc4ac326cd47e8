/// Reading, transforming and writing at the same time: a thread each for reading and writing, the caller's for the
/// transformation between them. Order is kept from one end to the other; at most a few elements wait on each side.
public struct Pipeline<Input: Sendable, Output: Sendable> {
  /// Elements that may wait between two stages.
  public static var depth: Int { 4 }

  /// Runs all three stages to the end. The first error of any stage ends the others and is thrown when all have ended
  /// (I10).
  ///
  /// - Parameters:
  ///   - usesThreads: whether the stages run at the same time; false for all of them on the caller's thread, one after
  ///     the other, which is faster where there are only a few elements.
  ///   - read: makes the next input; nil at the end. Runs on a thread of its own.
  ///   - transform: turns an input into an output. Runs on the caller's thread, in order.
  ///   - write: takes an output. Runs on a thread of its own, in order.
  /// - Throws: ``StreamsError``.
  public static func run(
    usesThreads: Bool = true,
    read: @escaping @Sendable () throws -> Input?, transform: (Input) throws -> Output,
    write: @escaping @Sendable (Output) throws -> Void
  ) throws {
    guard usesThreads else {
      while let input = try read() { try write(transform(input)) }
      return
    }
    try runTogether(read: read, transform: transform, write: write)
  }

  private static func runTogether(
    read: @escaping @Sendable () throws -> Input?, transform: (Input) throws -> Output,
    write: @escaping @Sendable (Output) throws -> Void
  ) throws {
    let inputs = BoundedQueue<Input>(capacity: depth)
    let outputs = BoundedQueue<Output>(capacity: depth)
    let reader = try Worker {
      do {
        while let input = try read() { try inputs.push(input) }
        inputs.finish()
      } catch {
        inputs.abort(error)
        throw error
      }
    }
    let writer: Worker
    do {
      writer = try Worker {
        do {
          while let output = try outputs.pop() { try write(output) }
        } catch {
          outputs.abort(error)
          throw error
        }
      }
    } catch {
      // The reader would wait for ever at the full queue, with what it reads still open.
      inputs.abort(error)
      _ = reader.join()
      throw error
    }
    var failure: (any Error)?
    do {
      while let input = try inputs.pop() { try outputs.push(transform(input)) }
      outputs.finish()
    } catch {
      failure = error
      inputs.abort(error)
      outputs.abort(error)
    }
    let ends = [reader.join(), writer.join()]
    if let error = failure ?? ends.compactMap({ $0 }).first { throw error }
  }
}
