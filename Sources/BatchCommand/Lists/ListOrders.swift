import Batch
@preconcurrency import Dispatch
import Foundation
import Glibc
import Streams
import Synchronization

/// What `ctl` asks of the process that works on a list: a file in the user's state directory, named after the list.
/// The process removes the file when it has done what it says, and passes it on to the stores at work.
final class ListOrders: Sendable {
  enum Order: Codable, Equatable, Sendable {
    case pause, resume, stop
    case throttle(String)
  }

  private struct State {
    var isPaused = false
    var throttle: String?
    var isOver = false
    /// Paths of the stores at work, and whether they know what was asked.
    var running: [Int: (path: String, isTold: Bool)] = [:]
    var lock: Int32 = -1
    var timer: (any DispatchSourceTimer)?
  }

  private let path: String?
  private let state = Mutex(State())
  private let job = MigrationJob(policies: Program.policies)

  /// Nobody reaches a list on standard input, or where the user has no state directory.
  init(_ list: Manifest) {
    let folder = JobRegistry(LocalFileSystem()).directory.map { FilePaths.join(FilePaths.directory(of: $0), "lists") }
    let whole = URL(fileURLWithPath: list.path).resolvingSymlinksInPath().path
    path = list.path == Manifest.standardInput ? nil : folder.map { FilePaths.join($0, JobRegistry.hex(whole)) }
  }

  /// Listens until the end. Another process that works on the same list keeps what it has.
  func begin(_ stop: @escaping @Sendable () -> Void) {
    guard let path else { return }
    try? FileManager.default.createDirectory(
      atPath: FilePaths.directory(of: path), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      if lock >= 0 { close(lock) }
      return
    }
    unlink(path + ".order")
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "list orders"))
    state.withLock { ($0.lock, $0.timer) = (lock, timer) }
    timer.schedule(deadline: .now() + 0.2, repeating: 0.2)
    timer.setEventHandler { [weak self] in self?.look(stop) }
    timer.resume()
  }

  /// Nobody is listened to any longer, and nobody waits.
  func end() {
    state.withLock { state in
      state.isOver = true
      guard let path, state.lock >= 0 else { return }
      state.timer?.cancel()
      state.timer = nil
      unlink(path)
      close(state.lock)
      state.lock = -1
    }
  }

  func begins(_ store: String, _ place: Int) {
    state.withLock { state in state.running[place] = (store, !state.isPaused && state.throttle == nil) }
  }

  func ends(_ place: Int) { state.withLock { $0.running[place] = nil } }

  func waitWhilePaused(until deadline: Date?) {
    while state.withLock({ $0.isPaused && !$0.isOver }), deadline.map({ Date() < $0 }) ?? true { usleep(100_000) }
  }

  /// The options of a store that begins, with what was asked meanwhile.
  func adding(to options: [String]) -> [String] {
    guard let throttle = state.withLock({ $0.throttle }) else { return options }
    let kept = StoreCommandWords.groups(options).filter { !$0[0].hasPrefix("--throttle") }.flatMap { $0 }
    return throttle == "none" ? kept : kept + ["--throttle", throttle]
  }

  private func look(_ stop: () -> Void) {
    if let path, let bytes = try? LocalFileSystem().readAll(path + ".order", cap: 4096) {
      if let order = try? JSONDecoder().decode(Order.self, from: Data(bytes)) {
        take(order)
        if order == .stop { stop() }
      }
      unlink(path + ".order")
    }
    passOn()
  }

  private func take(_ order: Order) {
    state.withLock { state in
      switch order {
      case .pause: state.isPaused = true
      case .resume: state.isPaused = false
      case .stop: (state.isPaused, state.isOver) = (false, true)
      case .throttle(let rate): state.throttle = rate
      }
      for place in state.running.keys { state.running[place]?.isTold = false }
    }
  }

  /// A store that is only just beginning hears it the next time.
  private func passOn() {
    let (waiting, isPaused, throttle) = state.withLock { state in
      (state.running.filter { !$0.value.isTold }, state.isPaused, state.throttle)
    }
    for (place, store) in waiting {
      let isTold: Void? = try? job.order(store.path) { ($0.paused, $0.throttle) = (isPaused, throttle ?? $0.throttle) }
      if isTold != nil { state.withLock { $0.running[place]?.isTold = true } }
    }
  }

  /// Gives an order to the process that works on a list. Returns whether it was taken within three seconds.
  ///
  /// - Throws: `refused` if no process works on it.
  func give(_ order: Order, to list: Manifest) throws -> Bool {
    guard let path, isAtWork(path) else { throw Self.nobodyWorks(on: list.path) }
    let files = LocalFileSystem()
    try files.writeDurably([UInt8](try JSONEncoder().encode(order)), to: path + ".order")
    for _ in 0..<30 {
      usleep(100_000)
      if try files.status(path + ".order") == nil { return true }
      guard isAtWork(path) else { return true }
    }
    return false
  }

  private func isAtWork(_ path: String) -> Bool {
    let lock = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard lock >= 0 else { return false }
    defer { close(lock) }
    return flock(lock, LOCK_SH | LOCK_NB) != 0
  }

  private static func nobodyWorks(on list: String) -> BatchError {
    let look = ProgramName.command(["status", "--manifest", list])
    return BatchError(
      .refused, "no process works on this list just now",
      hint: "\(look) tells how its stores are; the order was given to nobody", next: [look.line], path: list)
  }
}
