import CoreDataModel
import Dispatch
import MappingModels
import Synchronization

/// What a path will be asked for soon, derived on another processor meanwhile: the model that a store of the last version
/// carries, and of a long one how stores of all its versions are laid out.
enum PathFacts {
  /// Of shorter paths the layouts are made at once.
  private static let leastSteps = 8
  /// How many paths have been planned to the end.
  private static let ended = Atomic(0)

  /// Begins, and does not wait. What is wrong with a version is told to whoever asks for it.
  static func derive(_ steps: [MigrationStep]) {
    guard let last = steps.last?.destination else { return }
    // Not the steps themselves, whose mapping models are let go before a run.
    let (models, begin) = (steps.map(\.destination), ended.load(ordering: .relaxed))
    DispatchQueue.global().async {
      _ = try? ModelCache.encode(last)
      guard models.count >= leastSteps else { return }
      // Whoever asks for layouts meanwhile begins with the first.
      for model in models.reversed() where ended.load(ordering: .relaxed) == begin {
        _ = try? VersionLayout(model).layout()
      }
    }
  }

  /// A path is planned: what is still missing nobody will ask for, and to go on would keep all versions in memory beside
  /// the run.
  static func end() { ended.add(1, ordering: .relaxed) }
}
