import Foundation
import Streams

/// What the system said of a failure, instead of Foundation's error, which says nothing to a person.
enum SystemCause {
  /// The error with the system's word as its cause.
  static func told(_ error: BatchError) -> BatchError {
    guard let cause = error.cause, !error.repeatsCause else { return error }
    var told = error
    told.cause =
      number(cause).map { StreamsError.system($0, "open", path: told.path ?? "") }
      ?? (cause as? BatchError).map(Self.told) ?? cause
    if let cause = told.cause as? StreamsError, cause.path == told.path { told.path = nil }
    return told
  }

  /// The system's number of an error of Foundation's; nil if it has none.
  static func number(_ error: any Error) -> Int32? {
    switch error {
    case let error as POSIXError: error.code.rawValue
    case let error as CocoaError: (error.userInfo[NSUnderlyingErrorKey] as? any Error).flatMap(number)
    case let error as NSError where error.domain == NSPOSIXErrorDomain: Int32(exactly: error.code)
    case let error as NSError: (error.userInfo[NSUnderlyingErrorKey] as? any Error).flatMap(number)
    default: nil
    }
  }
}
