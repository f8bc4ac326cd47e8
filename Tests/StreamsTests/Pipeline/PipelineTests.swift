import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Streams

/// Three stages by a few threads: order, errors of each stage, waiting.
@Suite(.endsWithin(minutes: 5)) struct PipelineTests {
  struct Failure: Error, Equatable { var stage: String }

  /// Counts up; thread-safe.
  final class Counter: Sendable {
    private let value = Mutex(0)
    func next() -> Int {
      value.withLock { value in
        value += 1
        return value
      }
    }
    var current: Int { value.withLock { $0 } }
  }

  @Test("Order is kept from one end to the other", arguments: [0, 1, 3, 500])
  func order(count: Int) throws {
    let counter = Counter()
    let written = Mutex<[Int]>([])
    try Pipeline<Int, Int>.run(
      read: {
        let next = counter.next()
        return next <= count ? next : nil
      },
      transform: { $0 * 2 },
      write: { output in
        if output % 64 == 0 { usleep(100) }
        written.withLock { $0.append(output) }
      })
    #expect(written.withLock { $0 } == (0..<count).map { ($0 + 1) * 2 })
  }

  @Test(
    "Trap 16: an error of any stage, early or late, ends all stages and is what the caller gets",
    arguments: [1, 2, 7, 40])
  func errors(at position: Int) throws {
    for stage in ["read", "transform", "write"] {
      let counter = Counter()
      let written = Counter()
      @Sendable func fail(_ name: String, _ element: Int) throws {
        if name == stage, element == position { throw Failure(stage: name) }
      }
      let error = #expect(throws: Failure.self, "\(stage) at \(position)") {
        try Pipeline<Int, Int>.run(
          read: {
            let next = counter.next()
            try fail("read", next)
            return next <= 1000 ? next : nil
          },
          transform: { element in
            try fail("transform", element)
            return element
          },
          write: { element in
            try fail("write", element)
            _ = written.next()
          })
      }
      #expect(error == Failure(stage: stage))
      #expect(written.current < position)
      // The reader is stopped by full queues, not by the end of its input.
      #expect(counter.current <= position + 3 * Pipeline<Int, Int>.depth)
    }
  }

  @Test("Trap 16: an error of the last element, when the other stages have ended, is not lost")
  func lastElement() throws {
    let counter = Counter()
    #expect(throws: Failure.self) {
      try Pipeline<Int, Int>.run(
        read: { counter.next() <= 3 ? counter.current : nil }, transform: { $0 },
        write: { _ in
          usleep(20_000)
          throw Failure(stage: "write")
        })
    }
  }

  @Test(
    "Where a thread cannot be started, the others have ended when that is thrown, with what to do (fault 20)",
    arguments: [1, 2])
  func noThread(refused: Int) throws {
    let (asked, read) = (Counter(), Counter())
    let error = #expect(throws: StreamsError.self) {
      try Worker.$isRefused.withValue({ asked.next() == refused }) {
        try Pipeline<Int, Int>.run(read: { read.next() }, transform: { $0 }, write: { _ in })
      }
    }
    #expect(error?.message.contains("a thread cannot be started") == true && error?.hint?.contains("ulimit -v") == true)
    #expect(StreamsError.system(ENOMEM, "sort", path: "a").hint?.contains("ulimit -v") == true)
    #expect(read.current == 0)
  }

  @Test(
    "Several flows by one crew: each reads in order, by one thread at a time, and no more after its end",
    arguments: 0...4)
  func severalFlows(helpers: Int) throws {
    let crew = try Crew(helpers: helpers)
    for (count, pause) in [(0, "none"), (40, "read"), (40, "write"), (300, "none")] {
      let (counter, atWork) = (Counter(), Counter())
      let written = Mutex<[Int]>([])
      let writing = CrewStage<Int>(crew, capacity: 2) { element in
        if pause == "write" { usleep(200) }
        written.withLock { $0.append(element) }
      }
      try Pipeline<Int, Int>.run(
        crew,
        read: {
          let begun = atWork.next()
          if pause == "read" { usleep(200) }
          let next = counter.next()
          #expect(atWork.current == begun && next == begun)
          return next <= count ? next : nil
        }, transform: { $0 }, into: writing)
      #expect(written.withLock { $0 } == Array(0..<count).map { $0 + 1 } && counter.current == count + 1)
    }
  }

  @Test(
    "Trap 16: an error of reading ends a flow of a crew, and nothing is read after it", arguments: 0...3, [1, 5, 20])
  func readError(helpers: Int, last: Int) throws {
    let (crew, counter) = (try Crew(helpers: helpers), Counter())
    let writing = CrewStage<Int>(crew, capacity: 2) { _ in }
    #expect(throws: Failure(stage: "read")) {
      try Pipeline<Int, Int>.run(
        crew,
        read: {
          guard counter.next() < last else { throw Failure(stage: "read") }
          return 1
        }, transform: { $0 }, into: writing)
    }
    usleep(5000)
    #expect(counter.current == last)
  }

  @Test(
    "A work for several threads is done by those that can be started; where all are needed, those have ended (fault 20)"
  )
  func fewerThreads() throws {
    let (asked, done) = (Counter(), Counter())
    let body: Worker.Body = { _ = done.next() }
    try Worker.$isRefused.withValue({ asked.next() % 3 == 2 }) {
      for worker in try Worker.startAny([body, body]) { #expect(worker.join() == nil) }
      #expect(done.current == 1)
      _ = asked.next()
      #expect(throws: StreamsError.self) { try Worker.startAll([body, body]) }
      #expect(done.current == 2)
    }
  }

  @Test("A full queue makes its writer wait, and an abort wakes both sides")
  func waiting() throws {
    let queue = BoundedQueue<Int>(capacity: 2)
    let pushed = Counter()
    let writer = try Worker { while true { try queue.push(pushed.next()) } }
    /// What it has pushed once it pushes no more.
    func settled(_ count: Int) -> Int {
      for _ in 0..<1000 where pushed.current < count { usleep(30_000) }
      usleep(30_000)
      return pushed.current
    }
    #expect(settled(3) == 3)
    #expect(try queue.pop() == 1)
    #expect(settled(4) == 4)
    queue.abort(Failure(stage: "abort"))
    #expect(writer.join() as? Failure == Failure(stage: "abort"))
    #expect(throws: Failure.self) { try queue.pop() }
    #expect(throws: Failure.self) { try queue.push(1) }
    let empty = BoundedQueue<Int>(capacity: 0)
    let reader = try Worker { while try empty.pop() != nil {} }
    usleep(10_000)
    empty.abort(Failure(stage: "empty"))
    #expect(reader.join() as? Failure == Failure(stage: "empty"))
  }

  @Test("Of several threads that push and that pop each is woken, and nothing is lost", arguments: 1...3)
  func several(capacity: Int) throws {
    let queue = BoundedQueue<Int>(capacity: capacity)
    let (pushed, popped) = (Counter(), Counter())
    let writers = try (0..<3).map { _ in
      try Worker { for _ in 0..<2000 { try queue.push(pushed.next()) } }
    }
    let readers = try (0..<3).map { _ in
      try Worker { while try queue.pop() != nil { _ = popped.next() } }
    }
    for writer in writers { #expect(writer.join() == nil) }
    queue.finish()
    for reader in readers { #expect(reader.join() == nil) }
    #expect(popped.current == pushed.current)
  }

  @Test("After finish a queue gives what is left, then nil")
  func finish() throws {
    let queue = BoundedQueue<Int>(capacity: 3)
    try queue.push(1)
    try queue.push(2)
    queue.finish()
    #expect(try queue.pop() == 1)
    #expect(queue.tryPop() == 2)
    #expect(try queue.pop() == nil)
    #expect(queue.tryPop() == nil)
  }
}
