import RunSupport
import Streams

/// What a failed call has left behind, and what leads on.
package struct Aftermath {
  package var effect: BatchError.Effect
  /// A sentence or two for a person; nil if the effect says it all.
  package var text: String?
  /// The commands that the text names, the best one first.
  package var next: [AdvisedCommand] = []

  package init(effect: BatchError.Effect, text: String? = nil, next: [AdvisedCommand] = []) {
    (self.effect, self.text, self.next) = (effect, text, next)
  }
}

extension MigrationJob {
  /// An error with its effect, for a failed call about a store, an output, or a folder. Nothing is written.
  ///
  /// The disk says it and not the error: the same error comes before and after the first write. An error that carries
  /// its effect stays as it is; those of functions that write carry one already.
  public func settled(_ error: any Error, at path: String) -> BatchError {
    let told = BatchError(wrapping: error)
    return told.settled {
      var found = aftermath(of: path)
      // This program would say the same again, and the one that can go on may have no name.
      if told.code == .missingPolicy, found.effect == .resumable, let giveUp = found.next.last,
        found.next[0].line.hasPrefix(ProgramName.command("resume").line + " ")
      {
        found.text =
          "The source is untouched. Go on with that program's command resume, or give the run up with \(giveUp)"
        found.next = [giveUp]
      }
      return found
    }
  }

  /// Lets no error out of a public function that writes, but with what it has left behind.
  func settled<Result>(_ path: String, _ body: () throws -> Result) throws(BatchError) -> Result {
    do { return try body() } catch { throw settled(error, at: path) }
  }

  /// What the run's files and its store show after a failure.
  package func aftermath(of path: String) -> Aftermath {
    do {
      guard let job = try JobRegistry(fileSystem).find(path) else { return Aftermath(effect: .nothingWritten) }
      return aftermath(try RunLife.look(job, fileSystem), job)
    } catch is BatchError {
      // No run can be at such a path, or what is there is not ours.
      return Aftermath(effect: .nothingWritten)
    } catch {
      let look = ProgramName.command("status", path)
      return Aftermath(
        effect: .unknown, text: "What is left cannot be seen now (\(error)). Look with \(look) before anything else",
        next: [look]
      )
    }
  }

  private func aftermath(_ life: RunLife, _ job: JobDirectory) -> Aftermath {
    let resume = command(["resume", job.destination], on: job)
    let giveUp = ProgramName.command("clean", "--all", job.destination)
    switch life.phase {
    case _ where life.isOwned: return Aftermath(effect: .nothingWritten, text: "Nothing was written by this process")
    case .none, .leased: return Aftermath(effect: .nothingWritten)
    case .failed:
      let restart = restartCommand(job)
      let way = restart.map { "begin anew with \($0), or " } ?? ""
      return Aftermath(
        effect: .resumable,
        text:
          "The source is untouched. Going on would end with the same error: mend what it names, then \(way)give the run up with \(giveUp)",
        next: [restart, giveUp].compactMap { $0 })
    case .working where life.store == .missing:
      let (text, next) = wayOut(.putBack, life: life, job: job)
      return Aftermath(effect: .resumable, text: text, next: next)
    case .working:
      return Aftermath(
        effect: .resumable, text: "The source is untouched. Go on with \(resume), or give the run up with \(giveUp)",
        next: [resume, giveUp])
    case .cutOver:
      return Aftermath(
        effect: .resumable, text: "The old store is whole. Go on with \(resume), or give the run up with \(giveUp)",
        next: [resume, giveUp])
    case .renamed, .done:
      return Aftermath(effect: .done, text: "The new store is in place. Finish with \(resume)", next: [resume])
    case .unreadable: return Aftermath(effect: .unknown, text: "Give the run up with \(giveUp)", next: [giveUp])
    }
  }
}

extension JobDirectory {
  /// Does what is left after the renames of a cut-over. If that fails with the run's files gone, nothing but the error
  /// can say that it is over.
  func whenOver<Result>(
    _ fileSystem: any FileSystem, what: String = "The new store is in place", body: () throws -> Result
  ) throws -> Result {
    do { return try body() } catch {
      throw BatchError(wrapping: error).settled {
        let phase = (try? RunLife.look(self, fileSystem, isOwn: true))?.phase
        guard phase == RunLife.Phase.none || phase == .leased else { return nil }
        let clean = ProgramName.command("clean", destination)
        guard phase == .leased else { return Aftermath(effect: .done, text: what) }
        return Aftermath(effect: .done, text: "\(what). Remove what is left of the run with \(clean)", next: [clean])
      }
    }
  }
}

extension BatchError {
  /// The error with its effect, which is looked for if it has none.
  package func settled(by look: () -> Aftermath?) -> BatchError {
    guard effect == nil, let found = look() else { return self }
    var error = self
    error.effect = found.effect
    // A hint that names commands leads on already.
    guard next.isEmpty else { return error }
    (error.next, error.aftermath) = (found.next.map(\.line), found.text)
    return error
  }

  /// The error as it came out of a run that has begun: that nothing was written would be said of the plan, and not of
  /// the run.
  var withinRun: BatchError {
    guard effect == .nothingWritten else { return self }
    var error = self
    error.effect = nil
    return error
  }
}
