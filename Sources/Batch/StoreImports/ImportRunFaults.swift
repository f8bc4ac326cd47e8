import RunSupport
import StoreVerification

// Objects that do not fit together.
extension ImportRun {
  /// Verifies the store. Returns how many keys lead to no object, if they may.
  func verify() throws -> UInt64 {
    let found = try StoreImport.violations(in: files.prefix, of: model, fileSystem, monitor: monitor)
    let dangling = options.allowsDangling ? found.filter { $0.isDangling(plan) } : []
    guard let violation = found.first(where: { !dangling.contains($0) }) else {
      return dangling.reduce(0) { $0 + $1.count }
    }
    guard let link = ImportNowhere(violation, plan) else {
      throw StoreImport.mismatch(violation, hint: "Correct the files: what they say of this object is not possible")
    }
    throw try told(link)
  }

  /// The error of a relationship that leads nowhere, with lines: the files are read once more for them.
  func told(_ link: ImportNowhere) throws -> BatchError {
    var link = link
    if link.line == nil || reader.rejects > 0 {
      let watch = ImportWatch(link.places, reader.spool)
      try search(watch)
      link.take(watch)
    }
    isFaulty = true
    return link.error(in: ImportLines(paths: inputs), rejects: reader.rejects, allowed: allowed)
  }

  /// The command that keeps keys that lead to no object; nil if that is allowed already.
  private var allowed: AdvisedCommand? {
    guard !options.allowsDangling, !options.arguments.isEmpty else { return nil }
    return ProgramName.command(options.arguments + ["--allow-dangling"])
  }

  private func search(_ watch: ImportWatch) throws {
    let again = try ImportReader(plan, files: files, options: options, list: nil) { _ in }
    again.watch = watch
    do {
      try again.read(inputs) { _, _, _ in try monitor.throwIfStopRequested() }
    } catch let error as BatchError where error.code == .stopped {
      throw error
    } catch {
      // The files have changed since; what is known is told without lines.
    }
  }
}
