import Batch
import Foundation
import Streams
import Synchronization

/// What the program is: its version, its name, and the policies that it was built with.
enum Program {
  static let version = "0.1.0"

  /// As it was called.
  static let name = ProcessInfo.processInfo.arguments.first.map { FilePaths.name(of: $0) } ?? "godwit"

  // Policies are types, and the argument parser makes the commands: they meet here, before anything runs.
  private static let registry = Mutex(PolicyRegistry())
  static var policies: PolicyRegistry { registry.withLock { $0 } }

  /// Where an application has its policies, for the advice about one that is missing.
  static func know(_ policies: [(name: String, source: PolicyRegistry.Source)]) {
    registry.withLock { $0.sources.merge(policies.map { ($0.name, $0.source) }) { _, new in new } }
  }

  /// How commands name the models at work, for advice about mapping models.
  static func know(models: [String]) { registry.withLock { $0.models = models } }

  /// Mapping models that were unpacked: what commands call them.
  static func know(places: [String: String]) { registry.withLock { $0.places.merge(places) { _, new in new } } }

  /// Before any command runs.
  static func register(_ policies: [any EntityMigrationPolicy.Type]) {
    registry.withLock {
      $0 = PolicyRegistry(policies)
      $0.builder = PolicyBuild.builder
    }
  }
}
