/// Reading, transforming and writing at the same time: the caller's thread transforms, and whoever of a crew is free
/// reads and writes. Order is kept from one end to the other; at most a few elements wait on each side.
public struct Pipeline<Input: Sendable, Output: Sendable> {
  /// Elements that may wait between two stages.
  public static var depth: Int { 4 }

  /// Runs all three stages to the end. The first error of any stage ends the others and is thrown when all have ended
  /// (I10).
  ///
  /// - Parameters:
  ///   - usesThreads: whether the stages run at the same time; false for all of them on the caller's thread, one after
  ///     the other, which is faster where there are only a few elements.
  ///   - read: makes the next input; nil at the end. Runs on any thread, in order.
  ///   - transform: turns an input into an output. Runs on the caller's thread, in order.
  ///   - write: takes an output. Runs on any thread, in order.
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
    let crew = try Crew(helpers: 2)
    try run(crew, read: read, transform: transform, into: CrewStage(crew, capacity: depth, write))
  }

  /// Does the same with a crew, and the stage that takes the outputs. On return it has taken all; stages that follow it
  /// may still work.
  ///
  /// - Throws: ``StreamsError``.
  public static func run(
    _ crew: Crew, read: @escaping @Sendable () throws -> Input?, transform: (Input) throws -> Output,
    into outputs: CrewStage<Output>
  ) throws {
    defer { outputs.remove() }
    let inputs = CrewQueue<Input>(crew, capacity: depth)
    let source = CrewSource(inputs, read)
    crew.board.add(source)
    defer { crew.board.remove(source) }
    do {
      while let input = try inputs.pop(when: { outputs.queue.hasRoom }) { try outputs.push(transform(input)) }
      try outputs.drain()
    } catch {
      crew.fail(error)
      throw crew.board.failure ?? error
    }
  }
}
