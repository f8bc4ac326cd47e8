import RunSupport
import Streams

// Refusals: what is in the way, and the whole command that leads on.
extension MigrationJob {
  /// The error for a command that ``RunLife`` refuses.
  func refusal(
    _ life: RunLife, way: LifeAnswer.WayOut, job: JobDirectory, request: Request? = nil, resumes: Bool = false
  ) -> BatchError {
    let isChanged = life.phase == .working && life.store != .asItWas && life.store != .missing
    let code: BatchError.Code = resumes && (isChanged || life.phase == .unreadable) ? .badCheckpoint : .refused
    let (hint, next) = wayOut(way, life: life, job: job, request: request)
    return BatchError(
      code, what(life, job, request: request), hint: hint, effect: .nothingWritten, next: next.map(\.line),
      path: (try? JobPlan.read(job, fileSystem)).flatMap { life.store == .asItWas ? nil : $0.source } ?? job.destination
    )
  }

  private func what(_ life: RunLife, _ job: JobDirectory, request: Request?) -> String {
    let kind = life.isRollback ? "rollback" : "migration"
    let rest = "an interrupted \(kind) of this store waits to go on"
    switch (life.phase, life.store) {
    case (.unreadable, _): return unreadable(job)
    case (_, .missing): return "\(rest), and the store is missing"
    case (.failed, .asItWas):
      let reason = RunFailure.read(job, fileSystem)?.reason ?? "unknown"
      return changedMappings(job, request) == nil
        ? "the last migration of this store ended with an error that would come again (\(reason))"
        : "the last migration of this store ended with an error (\(reason)), and its mapping models are other ones now"
    case (.cutOver, .asItWas) where !life.isRollback:
      return "the migrated store is finished, and waits to be put in place"
    case (_, .asItWas): return rest
    case (_, .written): return "the store was written to since its interrupted \(kind) began"
    case (_, .replaced): return "the store was replaced since its interrupted \(kind) began"
    }
  }

  /// Why a run's files cannot be read.
  private func unreadable(_ job: JobDirectory) -> String {
    do {
      let job = try job.current(fileSystem)
      if try CutOverJournal.read(job, fileSystem) == nil { _ = try JobPlan.read(job, fileSystem) }
      return "the files of an interrupted run of this store cannot be read"
    } catch let error as BatchError {
      return error.message
    } catch { return "\(error)" }
  }

  /// The advice, and the commands that it names, the best one first.
  func wayOut(
    _ way: LifeAnswer.WayOut, life: RunLife, job: JobDirectory, request: Request? = nil
  ) -> (hint: String, next: [AdvisedCommand]) {
    let giveUp = ProgramName.command("clean", "--all", job.destination)
    let resume = command(["resume", job.destination], on: job)
    switch way {
    case .resume: return ("Go on with \(resume), or give it up with \(giveUp)", [resume, giveUp])
    case .restart:
      guard let restart = restartCommand(job, request) else {
        return ("Begin anew with \(giveUp), then migrate again", [giveUp])
      }
      guard life.phase == .failed, life.store == .asItWas, let mappings = changedMappings(job, request) else {
        return ("Begin anew with \(restart)", [restart])
      }
      let goOn = command(["resume", job.destination, "--mappings"] + mappings, on: job)
      return ("Begin anew with \(restart), or keep the finished steps with \(goOn)", [restart, goOn])
    case .giveUp: return ("Give it up with \(giveUp), then try again", [giveUp])
    case .rollback:
      let again = ProgramName.command("rollback", job.destination)
      return ("Try again with \(again)", [again])
    case .putBack where life.phase == .unreadable:
      return ("Put the store back, then give the run up with \(giveUp)", [giveUp])
    case .putBack:
      return ("Put the store back, then go on with \(resume); or give the run up with \(giveUp)", [resume, giveUp])
    }
  }

  /// The command that gives an interrupted run up and starts over; nil if no command began it.
  func restartCommand(_ job: JobDirectory, _ request: Request? = nil) -> AdvisedCommand? {
    let plan = try? JobPlan.read(job, fileSystem)
    if let request, !request.arguments.isEmpty {
      let named = request.madeFrom?.path ?? request.source
      let source = (try? JobDirectory.resolve(named)) ?? named
      let output = request.output == nil ? nil : job.destination
      return ReplayCommand.words(request.arguments, source: source, output: output, restarts: true).map(
        ProgramName.command)
    }
    let facts = (try? CutOverJournal.read(job, fileSystem))?.run
    guard let arguments = plan?.arguments ?? facts?.arguments else { return nil }
    let source =
      plan?.namedSource ?? facts?.source ?? job.destination
    let output = source == job.destination ? nil : job.destination
    return ReplayCommand.words(arguments, source: source, output: output, restarts: true).map { command($0, on: job) }
  }

  /// A command that goes on with a run, of a program that has its policies.
  func command(_ words: [String], on job: JobDirectory) -> AdvisedCommand {
    ProgramName.command(words, of: program(of: job) ?? ProgramName.current)
  }

  /// Another program that has the policies of a run, which this one lacks; nil if none is known.
  package func program(of job: JobDirectory) -> String? {
    let program = (try? JobPlan.read(job, fileSystem))?.program(policies, JobRegistry(fileSystem))
    return program == ProgramName.current ? nil : program
  }

  /// Whether this program lacks policies of a run.
  package func lacksPolicies(of job: JobDirectory) -> Bool {
    (try? JobPlan.read(job, fileSystem))?.missingPolicy(policies) != nil
  }

  /// The words of the command that began the run of a store, which name what it reads; none if no command did.
  package func arguments(ofRun path: String) -> [String] {
    guard let job = (try? JobRegistry(fileSystem).find(path)) ?? nil else { return [] }
    return (try? JobPlan.read(job, fileSystem))?.arguments ?? []
  }
}
