import Batch
import Foundation
import Streams

/// What the system said of a failure, instead of Foundation's error, which says nothing to a person.
enum SystemCause {
  static func told(_ error: any Error) -> any Error {
    guard var told = error as? BatchError, let cause = told.cause else { return error }
    told.cause = number(cause).map { StreamsError.system($0, "open", path: told.path ?? "") } ?? Self.told(cause)
    if let cause = told.cause as? StreamsError, cause.path == told.path { told.path = nil }
    return told
  }

  private static func number(_ error: any Error) -> Int32? {
    switch error {
    case let error as POSIXError: error.code.rawValue
    case let error as CocoaError: (error.userInfo[NSUnderlyingErrorKey] as? any Error).flatMap(number)
    case let error as NSError where error.domain == NSPOSIXErrorDomain: Int32(exactly: error.code)
    case let error as NSError: (error.userInfo[NSUnderlyingErrorKey] as? any Error).flatMap(number)
    default: nil
    }
  }
}
