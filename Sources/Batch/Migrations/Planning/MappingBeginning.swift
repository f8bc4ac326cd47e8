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
  /// Why the step between two versions is not inferred, as their sources say; nil if it is.
  package func stage(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> String? {
    let (from, to) = (source.versionChecksum, destination.versionChecksum)
    return bundles.lazy.compactMap { bundle in
      let order = bundle.versions.map(\.versionChecksum)
      return order.contains(to) ? bundle.migrations.refusal(from: from, to: to, order: order) : nil
    }.first
  }

  /// The same for versions of the library; nil if it does not hold both.
  func beginning(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> AdvisedCommand? {
    guard let start = position(of: source), let end = position(of: destination) else { return nil }
    let holders = [start, end].compactMap { place in bundles.first { $0.versions.contains(versions[place]) } }
    guard holders.count == 2 else { return nil }
    return ModelBundle.beginning(names[start], names[end], from: holders[0], to: holders[1])
  }
}
