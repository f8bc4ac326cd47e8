import CoreDataModel
import Dispatch
import MappingModels

/// What a long path will be asked for soon, derived on another processor meanwhile: how stores of its versions are laid
/// out, and the model that a store of the last one carries.
enum PathFacts {
  /// Shorter paths are planned at once.
  private static let leastSteps = 8

  /// Begins, and does not wait. What is wrong with a version is told to whoever asks for it.
  static func derive(_ steps: [MigrationStep]) {
    guard steps.count >= leastSteps, let last = steps.last else { return }
    DispatchQueue.global().async {
      _ = try? ModelCache.encode(last.destination)
      // Whoever asks for layouts meanwhile begins with the first.
      for step in steps.reversed() { _ = try? VersionLayout(step.destination).layout() }
    }
  }
}
