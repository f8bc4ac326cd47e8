import Foundation
import Synchronization
import Testing

@testable import BatchCommand
@testable import MigrationJobs

@Suite("Signals that reach a run") struct SignalTests {
  @Test(
    "A handler that comes long after another one of its signal is called in its place", .serialized, arguments: 0..<3)
  func handlers(turn: Int) throws {
    let (earlier, later) = (Counter(), Counter())
    let first = try #require(ProcessSignals.handler(SIGUSR2) { earlier.add() })
    kill(getpid(), SIGUSR2)
    earlier.wait(for: 1)
    let second = try #require(ProcessSignals.handler(SIGUSR2) { later.add() })
    kill(getpid(), SIGUSR2)
    later.wait(for: 1)
    #expect(earlier.value == 1 && later.value == 1)
    second.cancel()
    first.cancel()
    kill(getpid(), SIGUSR2)
    usleep(100_000)
    #expect(earlier.value == 1 && later.value == 1)
  }

  @Test("A handler that waits holds up no other signal, nor the next one of its own")
  func waiting() throws {
    let (called, gate) = (Counter(), DispatchSemaphore(value: 0))
    let first = try #require(
      ProcessSignals.handler(SIGURG) {
        called.add()
        gate.wait()
      })
    let second = try #require(ProcessSignals.handler(SIGWINCH) { called.add() })
    for (number, count) in [(SIGURG, 1), (SIGWINCH, 2), (SIGURG, 3)] {
      kill(getpid(), number)
      called.wait(for: count)
      #expect(called.value == count)
    }
    for _ in 0..<2 { gate.signal() }
    second.cancel()
    first.cancel()
  }

  @Test(
    "A run hears a signal however long it has planned, stops with 75, and can be resumed", arguments: [SIGINT, SIGTERM])
  func runs(signal: Int32) throws {
    let folder = try CommandFolder()
    for turn in 0..<4 {
      let store = try folder.sample("S\(turn).sqlite", rows: 2000)
      let job = try JobDirectory(destination: store)
      let words = ["migrate", store, "--throttle", "500rows/s", "--checkpoint-every", "20kB"] + CommandFolder.models
      let process = try CommandProcess("book-migration", words, in: folder)
      while process.isRunning, CommandFolder.checkpoints(job.path).count < 2 { usleep(2000) }
      process.send(signal)
      let outcome = try process.wait()
      #expect(outcome.code == 75, "\(outcome)")
      #expect(try folder.run("book-migration", ["resume", store, "--quiet"]).code == 0)
    }
  }
}

private final class Counter: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func add() { count.withLock { $0 += 1 } }

  func wait(for value: Int) {
    for _ in 0..<2000 where self.value < value { usleep(5000) }
  }
}
