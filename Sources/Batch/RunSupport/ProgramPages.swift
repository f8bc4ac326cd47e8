import Dispatch
import Foundation

/// The pages of the program and its libraries that are in memory: code that was read from their files.
///
/// They count for the memory of a run (I7). What is needed again comes back from the page cache.
package enum ProgramPages {
  /// Gives back the pages that are code every fifth of a second: each phase of a run has other code, and the kernel brings
  /// in what lies around it. The timer is the caller's to cancel.
  package static func release() -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    timer.schedule(deadline: .now() + pause, repeating: pause)
    timer.setEventHandler { giveBack() }
    timer.resume()
    return timer
  }

  private static let pause = 0.2

  /// Gives back the pages that are code: nothing can have changed them. Those that are only read now may hold addresses
  /// that were filled in before.
  package static func giveBack() {
    guard let maps = FileManager.default.contents(atPath: "/proc/self/maps") else { return }
    for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ", omittingEmptySubsequences: true)
      guard words.count >= 6, words[1] == "r-xp", words[5].hasPrefix("/") else { continue }
      let range = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard range.count == 2, range[0] < range[1] else { continue }
      _ = madvise(UnsafeMutableRawPointer(bitPattern: range[0]), Int(range[1] - range[0]), MADV_DONTNEED)
    }
  }
}
