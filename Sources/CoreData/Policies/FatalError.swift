import Foundation
import Migrations
import RunSupport

/// Ends the program with what a policy says, and with the error before it: KVC does not throw, so a policy may find nil
/// where an error is the cause. The run stays and can be resumed.
public func fatalError(
  _ message: @autoclosure () -> String = "", file: StaticString = #fileID, line: UInt = #line
) -> Never {
  let cause = UntoldFailure.text.map { "; before that: \($0)" } ?? ""
  let text = message().isEmpty ? "fatalError" : message()
  let said = "the policy gave up: \(text) (\(file):\(line))\(cause)\n"
  FileHandle.standardError.write(Data(said.utf8))
  // No unwinding: other threads are at work, and a run is whole at every moment.
  _exit(BatchError.Code.policyFailed.exitCode)
}
