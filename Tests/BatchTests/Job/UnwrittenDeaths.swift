import Foundation
import Streams
import Testing

@testable import MigrationJobs
@testable import RunSupport

/// Runs that die at each of their calls, and what commands make of what they leave.
struct UnwrittenDeaths {
  let folder: MigrationFolder
  let source: String
  /// A run that takes its time may have been written down when it dies.
  var mayBeWritten = false
  let request: (_ store: String) -> MigrationJob.Request

  /// Returns how many had left nothing and were begun again, and how many a command finished.
  func dieEverywhere() throws -> (begun: Int, finished: Int) {
    let counting = DyingFileSystem()
    let whole = request(try folder.copy(source, as: "whole"))
    let wanted = try folder.job(counting).migrate(whole, monitor: RunMonitor())
    let rows = try UnwrittenRunTests.rows(wanted.destination)
    var (begun, finished) = (0, 0)
    for call in 1...counting.calls {
      let request = request(try folder.copy(source, as: "dies-\(call)"))
      let dies = folder.job(DyingFileSystem(at: call))
      guard (try? dies.migrate(request, monitor: RunMonitor())) == nil else { continue }
      switch try goOn(request, "call \(call)") {
      case .begun: begun += 1
      case .finished: finished += 1
      case .wasDone: break
      }
      let path = request.output ?? request.source
      #expect(try UnwrittenRunTests.rows(path) == rows, "call \(call)")
      #expect(try folder.job().status(path).state == .none, "call \(call)")
      try FileManager.default.removeItem(atPath: FilePaths.directory(of: path))
    }
    return (begun, finished)
  }

  private enum End { case begun, finished, wasDone }

  /// What a person would do: migrate again where no run is known, else resume.
  private func goOn(_ request: MigrationJob.Request, _ comment: Comment) throws -> End {
    let path = request.output ?? request.source
    let status = try folder.job().status(path)
    let known: [JobStatus.State] = [.none, .cutOver, .finished] + (mayBeWritten ? [.interrupted] : [])
    #expect(known.contains(status.state), comment)
    guard status.state == .none else {
      let report = try folder.job().resume(path) { _ in RunMonitor() }
      #expect(report.isVerified, comment)
      #expect(try folder.job().report(report.destination).ended != nil, comment)
      return .finished
    }
    if let output = request.output {
      guard !FileManager.default.fileExists(atPath: output) else { return .wasDone }
    } else if try folder.job().plan(request).isUpToDate {
      return .wasDone
    }
    #expect(try folder.job().migrate(request, monitor: RunMonitor()).isVerified, comment)
    return .begun
  }
}
