import CoreDataModel
import RunSupport

extension ModelBundle {
  /// The command that begins a mapping file for the step between two versions, from one bundle to another or the same.
  static func beginning(_ source: String, _ destination: String, from first: ModelBundle, to last: ModelBundle)
    -> AdvisedCommand
  {
    let paths = first.path == last.path ? last.paths : first.paths + last.paths
    return ProgramName.command(["mapping", "init", source, destination, "--models"] + paths + last.options)
  }
}

extension ModelLibrary {
  /// The same for versions of the library; nil if it does not hold both.
  func beginning(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> AdvisedCommand? {
    guard let start = position(of: source), let end = position(of: destination) else { return nil }
    let holders = [start, end].compactMap { place in bundles.first { $0.versions.contains(versions[place]) } }
    guard holders.count == 2 else { return nil }
    return ModelBundle.beginning(names[start], names[end], from: holders[0], to: holders[1])
  }
}
