import Synchronization

/// The error of the call at work that could not be thrown, for a policy that ends the program before it can be.
enum UntoldFailure {
  private static let last = Mutex<String?>(nil)

  static var text: String? {
    get { last.withLock { $0 } }
    set { last.withLock { $0 = newValue } }
  }
}
