import Glibc

/// A mutex, and conditions that threads wait for while they hold it.
final class ThreadLock: @unchecked Sendable {
  // Sendable: the mutex does not change place, and is made for several threads.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// Who is to be woken when the lock is free.
  private var woken: ThreadCondition?

  init() { pthread_mutex_init(mutex, nil) }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func locked<R>(_ body: () throws -> R) rethrows -> R {
    pthread_mutex_lock(mutex)
    defer { unlock() }
    return try body()
  }

  /// Calls `body` without the lock, which the caller holds and has again on return.
  func unlocked<R>(_ body: () throws -> R) rethrows -> R {
    unlock()
    defer { pthread_mutex_lock(mutex) }
    return try body()
  }

  /// Waits for a sign, which may come without a cause; the caller holds the lock.
  func wait(for condition: ThreadCondition) {
    woken?.broadcast()
    woken = nil
    pthread_cond_wait(condition.pointer, mutex)
  }

  /// Wakes all who wait, once the lock that the caller holds is free: they would only wait for that.
  func wake(_ condition: ThreadCondition) {
    if let woken, woken !== condition { woken.broadcast() }
    woken = condition
  }

  private func unlock() {
    let woken = woken
    self.woken = nil
    pthread_mutex_unlock(mutex)
    woken?.broadcast()
  }
}

/// What threads wait for.
final class ThreadCondition: @unchecked Sendable {
  // Sendable: as the mutex.
  fileprivate let pointer = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() { pthread_cond_init(pointer, nil) }

  deinit {
    pthread_cond_destroy(pointer)
    pointer.deallocate()
  }

  /// Wakes one of those who wait.
  func signal() { pthread_cond_signal(pointer) }

  /// Wakes all who wait, at once.
  fileprivate func broadcast() { pthread_cond_broadcast(pointer) }
}
