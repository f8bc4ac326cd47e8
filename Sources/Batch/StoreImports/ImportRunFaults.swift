import RunSupport
import StoreVerification

// Objects that do not fit together.
extension ImportRun {
  /// Verifies the store.
  func verify() throws {
    guard let violation = try StoreImport.violation(in: files.prefix, of: model, fileSystem, monitor: monitor) else {
      return
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
    return link.error(in: ImportLines(paths: inputs), rejects: reader.rejects)
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
