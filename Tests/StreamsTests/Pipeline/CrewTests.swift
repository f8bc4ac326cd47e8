import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Streams

/// A few threads that share the work of several stages: order, errors, and no thread that waits for ever.
@Suite(.endsWithin(minutes: 5)) struct CrewTests {
  struct Failure: Error, Equatable { var stage: Int }

  final class Counter: Sendable {
    private let total = Mutex(0)
    var count: Int { total.withLock { $0 } }
    func add(_ more: Int) { total.withLock { $0 += more } }
  }

  /// Three stages one behind the other, which note what they take; the first has two places, the others one.
  final class Flow: Sendable {
    let seen = Mutex<[[Int]]>([[], [], []])
    let atWork = Mutex([0, 0, 0])
    let overlaps = Mutex(0)
    let failing: (stage: Int, element: Int)?

    init(failing: (stage: Int, element: Int)? = nil) { self.failing = failing }

    func take(_ element: Int, at stage: Int) throws {
      let count = atWork.withLock { atWork in
        atWork[stage] += 1
        return atWork[stage]
      }
      if count > 1 { overlaps.withLock { $0 += 1 } }
      if (element &* 7 &+ stage) % 5 == 0 { usleep(100) }
      defer { atWork.withLock { $0[stage] -= 1 } }
      if let failing, failing == (stage, element) { throw Failure(stage: stage) }
      seen.withLock { $0[stage].append(element) }
    }

    func stages(_ crew: Crew) -> [CrewStage<Int>] {
      let last = CrewStage<Int>(crew, capacity: 1) { try self.take($0, at: 2) }
      let middle = CrewStage<Int>(crew, capacity: 1, next: last) {
        try self.take($0, at: 1)
        try last.push($0)
      }
      let first = CrewStage<Int>(crew, capacity: 2, next: middle) {
        try self.take($0, at: 0)
        try middle.push($0)
      }
      return [first, middle, last]
    }
  }

  @Test("Each stage takes all elements in order, one at a time, however many threads there are", arguments: 0...4)
  func order(helpers: Int) throws {
    let (flow, crew) = (Flow(), try Crew(helpers: helpers))
    let stages = flow.stages(crew)
    for element in 0..<300 { try stages[0].push(element) }
    for stage in stages { try stage.drain() }
    #expect(flow.seen.withLock { $0 } == [[Int]](repeating: Array(0..<300), count: 3))
    #expect(flow.overlaps.withLock { $0 } == 0)
    for stage in stages { stage.remove() }
  }

  @Test(
    "Trap 16: an error of any stage ends all, and when it is thrown nobody works any more", arguments: 0...3, 0...2)
  func errors(helpers: Int, stage: Int) throws {
    for element in [0, 1, 2, 5, 40] {
      let (flow, crew) = (Flow(failing: (stage, element)), try Crew(helpers: helpers))
      let stages = flow.stages(crew)
      let thrown = #expect(throws: Failure.self) {
        for element in 0..<300 { try stages[0].push(element) }
        for stage in stages { try stage.drain() }
      }
      #expect(thrown == Failure(stage: stage))
      for stage in stages { stage.remove() }
      let seen = flow.seen.withLock { $0 }
      #expect(seen[stage] == Array(0..<element))
      usleep(2000)
      #expect(flow.seen.withLock { $0 } == seen)
      #expect(throws: Failure.self) { try stages[0].push(0) }
    }
  }

  @Test("A stage that is removed drops what waits, and keeps no thread", arguments: 0...2)
  func removal(helpers: Int) throws {
    let crew = try Crew(helpers: helpers)
    let taken = Mutex(0)
    let stage = CrewStage<Int>(crew, capacity: 8) { _ in
      usleep(1000)
      taken.withLock { $0 += 1 }
    }
    for element in 0..<4 { try stage.push(element) }
    stage.remove()
    let count = taken.withLock { $0 }
    usleep(5000)
    #expect(taken.withLock { $0 } == count && count <= 4)
  }

  @Test("All parts of what a stage does are done when it goes on, each once", arguments: 0...4)
  func parts(helpers: Int) throws {
    let crew = try Crew(helpers: helpers)
    let done = Mutex([Int](repeating: 0, count: 40))
    let stages = (0..<2).map { number in
      CrewStage<Int>(crew, capacity: 1) { element in
        let parts = (0..<4).map { part in
          {
            if part % 2 == 0 { usleep(200) }
            done.withLock { $0[element * 4 + part] += number + 1 }
          }
        }
        try crew.share(parts)
        #expect(done.withLock { $0[element * 4..<element * 4 + 4].allSatisfy { $0 == number + 1 } })
      }
    }
    for element in 0..<10 { try stages[element % 2].push(element) }
    for stage in stages { try stage.drain() }
    #expect(done.withLock { $0 } == (0..<40).map { $0 / 4 % 2 + 1 })
    for stage in stages { stage.remove() }
    try crew.share([])
  }

  @Test("Of parts that nobody has begun when another fails, none is done")
  func leftOut() throws {
    let (crew, done) = (try Crew(helpers: 0), Counter())
    let parts = (0..<4).map { part in
      {
        done.add(1)
        if part == 1 { throw Failure(stage: part) }
      }
    }
    #expect(throws: Failure(stage: 1)) { try crew.share(parts) }
    #expect(done.count == 2)
    #expect(throws: Failure(stage: 7)) { try crew.share([{ throw Failure(stage: 7) }, { done.add(1) }]) }
    #expect(done.count == 2)
  }

  @Test("Parts are done although the crew's work has failed meanwhile", arguments: 0...2)
  func failedCrew(helpers: Int) throws {
    let (crew, done) = (try Crew(helpers: helpers), Counter())
    crew.fail(Failure(stage: 3))
    try crew.share((0..<4).map { _ in { done.add(1) } })
    #expect(done.count == 4)
  }

  @Test("An error of a part is thrown when nobody works at the others", arguments: 0...4, 0...3)
  func failingPart(helpers: Int, failing: Int) throws {
    let crew = try Crew(helpers: helpers)
    let atWork = Mutex(0)
    let parts = (0..<4).map { part in
      {
        atWork.withLock { $0 += 1 }
        usleep(500)
        atWork.withLock { $0 -= 1 }
        if part == failing { throw Failure(stage: part) }
      }
    }
    #expect(throws: Failure(stage: failing)) { try crew.share(parts) }
    #expect(atWork.withLock { $0 } == 0)
    // The crew has not failed: its next work goes on.
    try crew.share([{}, {}])
  }

  @Test(
    "What follows the outputs of a pipeline is done by its crew, and an error there ends the reading", arguments: 0...2)
  func pipeline(helpers: Int) throws {
    let crew = try Crew(helpers: helpers)
    let read = Mutex(0)
    let late = Mutex<[Int]>([])
    let last = CrewStage<Int>(crew, capacity: 2) { element in
      if element == 2 * 700 { throw Failure(stage: 9) }
      late.withLock { $0.append(element) }
    }
    func pass(upTo count: Int) throws {
      try Pipeline<Int, Int>.run(
        crew,
        read: {
          read.withLock { read in
            guard read < count else { return nil }
            read += 1
            return read
          }
        }, transform: { $0 * 2 }, into: CrewStage(crew, capacity: 4, next: last) { try last.push($0) })
    }
    try pass(upTo: 200)
    try pass(upTo: 500)
    try last.drain()
    #expect(late.withLock { $0 } == (1...500).map { $0 * 2 })
    #expect(throws: Failure.self) {
      try pass(upTo: 5000)
      try last.drain()
    }
    #expect(read.withLock { $0 } < 800)
    last.remove()
  }
}
