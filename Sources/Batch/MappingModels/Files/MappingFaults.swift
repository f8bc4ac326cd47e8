import RunSupport

/// What is wrong with a mapping file: who mends it wants to know all of it, as far as the file can be read on.
final class MappingFaults {
  private static let mostListed = 20

  /// The entity mapping that is read.
  var entity: String?
  private var found: [BatchError] = []
  var isEmpty: Bool { found.isEmpty }

  /// Keeps an error, each once.
  func add(_ error: BatchError) {
    var error = error
    error.entity = error.entity ?? entity
    if !found.contains(where: { $0.message == error.message && $0.entity == error.entity }) { found.append(error) }
  }

  /// Throws the only error, or one that names all.
  func throwAny() throws {
    guard let first = found.first else { return }
    guard found.count > 1 else { throw first }
    let lines = found.prefix(Self.mostListed).map { error in
      var error = error
      // Said once, before all of them.
      error.path = nil
      return "\(error)"
    }
    let rest = found.count - lines.count
    throw BatchError(
      .badMapping, "\(found.count) faults:\n" + lines.joined(separator: "\n") + (rest > 0 ? "\nand \(rest) more" : ""),
      hint: "Correct them", path: first.path)
  }
}

extension MappingNode {
  /// Does something, and goes on behind an error, which is kept, if the file's faults are collected.
  @discardableResult
  func attempt<Result>(_ body: () throws -> Result) throws -> Result? {
    guard let faults else { return try body() }
    do { return try body() } catch let error as BatchError {
      faults.add(error)
      return nil
    }
  }
}
