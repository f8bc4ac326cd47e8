import Foundation
import Streams
import Synchronization
import Testing

@testable import RunSupport

@Suite("What holds a run up on purpose")
struct RunPaceTests {
  @Test("Rates are read in the units that people write, and told as they are read")
  func rates() {
    let texts: [(String, RunRate?)] = [
      ("50MB/s", RunRate(50e6, .bytes)), ("10MiB/s", RunRate(10 * 0x1p20, .bytes)),
      ("200krows/s", RunRate(200e3, .rows)),
      ("1.5Mrows/s", RunRate(1.5e6, .rows)), ("700rows/s", RunRate(700, .rows)), ("50MB", nil), ("0MB/s", nil),
      ("-1B/s", nil),
      ("fast", nil), ("1e300MB/s", nil), ("none", nil), ("MB/s", nil),
    ]
    for (text, rate) in texts {
      #expect(RunRate(text) == rate, "\(text)")
      if let rate { #expect(RunRate(rate.description) == rate) }
    }
  }

  @Test("A bucket lets exactly its rate pass over time, and no more than a quarter of a second at once")
  func bucket() {
    var bucket = TokenBucket(RunRate(1000, .bytes), at: 0)
    #expect(bucket.take(rows: 1, bytes: 250, at: 0) == 0)
    #expect(bucket.take(rows: 1, bytes: 100, at: 0) == 0.1)
    // The debt is paid first, and rest saves up a quarter of a second's amount at most.
    #expect(abs(bucket.take(rows: 1, bytes: 0, at: 0.05) - 0.05) < 1e-9)
    #expect(abs(bucket.take(rows: 1, bytes: 1250, at: 100) - 1) < 1e-9)
    var (now, passed) = (200.0, 0)
    bucket = TokenBucket(RunRate(1000, .rows), at: now)
    while now < 210 {
      now += bucket.take(rows: 37, bytes: 1 << 20, at: now)
      passed += 37
    }
    #expect(abs(passed - 10_250) < 75)
  }

  /// A machine with such files in /proc.
  private func load(_ files: [String: String], processors: Int = 2) -> SystemLoad {
    SystemLoad(processors: processors) { files[$0] }
  }

  private static func pressure(_ share: Double) -> String {
    "some avg10=\(share) avg60=1.00 avg300=0.50 total=12345\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
  }

  @Test("A machine is busy by its pressure, without that by its load, and without both it counts as busy (trap 9)")
  func busy() {
    #expect(!load(["/proc/pressure/io": Self.pressure(3), "/proc/pressure/cpu": Self.pressure(10)]).isBusy)
    #expect(load(["/proc/pressure/io": Self.pressure(60), "/proc/pressure/cpu": Self.pressure(0)]).isBusy)
    #expect(load(["/proc/pressure/cpu": Self.pressure(60)]).isBusy)
    // Where there is pressure, the load is not asked.
    #expect(!load(["/proc/pressure/io": Self.pressure(3), "/proc/loadavg": "99.0 1 1 1/1 1"]).isBusy)
    #expect(!load(["/proc/loadavg": "1.9 1 1 1/1 1"]).isBusy)
    #expect(load(["/proc/loadavg": "3.1 1 1 1/1 1"]).isBusy)
    #expect(!load(["/proc/loadavg": "3.1 1 1 1/1 1"], processors: 8).isBusy)
    #expect(load([:]).isBusy && load(["/proc/pressure/io": "nothing", "/proc/loadavg": "x"]).isBusy)
  }

  @Test("A busy machine halves the share of time at work again and again; an idle one gives it back")
  func share() {
    let isBusy = Mutex(true)
    let pace = RunPace()
    pace.giveWay(to: SystemLoad(processors: 1) { _ in isBusy.withLock { "\($0 ? 9 : 0) 1 1" } })
    func seconds(of work: UInt32) -> Double {
      pace.wait(rows: 0, bytes: 0) { false }
      usleep(work)
      let began = pace.seconds
      pace.wait(rows: 0, bytes: 0) { false }
      return pace.seconds - began
    }
    /// Once it did not have to wait; a thread may be kept from its processor for longer than that.
    func isFree() -> Bool { (0..<100).contains { _ in seconds(of: 20_000) < 0.02 } }
    #expect(isFree())
    for _ in 0..<2 { pace.lookAtLoad() }
    // A quarter of the time: three times as long as the work.
    #expect(seconds(of: 20_000) > 0.05)
    isBusy.withLock { $0 = false }
    for _ in 0..<2 { pace.lookAtLoad() }
    #expect(isFree())
  }

  @Test("A pause does not count as time at work, and a stop ends it")
  func pause() throws {
    let monitor = RunMonitor()
    monitor.pause(true)
    let before = monitor.progressNow
    usleep(120_000)
    #expect(monitor.isPaused && monitor.progressNow.isPaused && monitor.progressNow.seconds - before.seconds < 0.05)
    let worker = Thread { monitor.hold(bytes: 1) }
    worker.start()
    monitor.requestStop()
    while !worker.isFinished { usleep(1000) }
    #expect(throws: BatchError.self) { try monitor.throwIfStopRequested() }
  }

  @Test("A time that has come stops a run, resumable, and is named")
  func deadline() {
    let monitor = RunMonitor()
    monitor.stop(at: Date() + 100, "the deadline 06:00 is near")
    monitor.tick()
    #expect(!monitor.isStopRequested)
    monitor.tick(now: Date() + 101)
    let error = #expect(throws: BatchError.self) { try monitor.throwIfStopRequested() }
    #expect(error?.code == .stopped && error?.message.contains("06:00") == true)
  }

  @Test(
    "A stop that came too late for a run is one for the run behind it, with its reason; that for a lost lease is not")
  func handedStops() {
    func next(_ reason: (any Error)?, isAsked: Bool = true) -> String? {
      let (first, second) = (RunMonitor(), RunMonitor())
      if isAsked { first.requestStop(because: reason) }
      first.handStop(to: second)
      do { try second.throwIfStopRequested() } catch { return (error as? BatchError)?.message }
      return nil
    }
    #expect(next(nil, isAsked: false) == nil)
    #expect(next(nil) == "the migration stopped on request")
    #expect(next(BatchError(.stopped, "it is six o'clock")) == "it is six o'clock")
    #expect(next(BatchError(.leaseHeld, "another process has it")) == nil)
    #expect(next(StreamsError(.inputOutput, "the directory is gone")) == nil)
  }
}
