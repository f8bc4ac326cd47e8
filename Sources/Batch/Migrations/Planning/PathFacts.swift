import CoreDataModel
import Dispatch
import MappingModels

/// What a path will be asked for soon, derived on another processor meanwhile: the model that a store of the last version
/// carries, and of a long one how stores of all its versions are laid out.
enum PathFacts {
  /// Of shorter paths the layouts are made at once.
  private static let leastSteps = 8

  /// Begins, and does not wait. What is wrong with a version is told to whoever asks for it.
  static func derive(_ steps: [MigrationStep]) {
    guard let last = steps.last else { return }
    DispatchQueue.global().async {
      _ = try? ModelCache.encode(last.destination)
      guard steps.count >= leastSteps else { return }
      // Whoever asks for layouts meanwhile begins with the first.
      for step in steps.reversed() { _ = try? VersionLayout(step.destination).layout() }
    }
  }
}
