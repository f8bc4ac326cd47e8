import Batch

/// A key of `godwit.yaml`: an option of commands, or what the file says besides.
struct ProjectKey {
  enum Kind { case list, single, flag }

  /// Which values count only in a file that a person names: a file that lies beside a store may come from anybody.
  enum Trust: Equatable {
    case none
    case all
    case values([String])
  }

  let name: String
  let kind: Kind
  var needsTrust = Trust.none
  /// Whether values are paths, from the folder of the file.
  var isPath = false
  /// Whether it is about the model: another model on the command line makes it void.
  var isOfModel = false

  var option: String { "--" + name }

  /// Sources of policies; no option.
  static let policies = "policies"

  static let all = models + settings + trusted

  private static let models = [
    ProjectKey(name: "app", kind: .single, isPath: true, isOfModel: true),
    ProjectKey(name: "bundle", kind: .single, isOfModel: true),
    ProjectKey(name: "models", kind: .list, isPath: true, isOfModel: true),
    ProjectKey(name: "swift-types", kind: .list, isOfModel: true),
    ProjectKey(name: "define", kind: .list, isOfModel: true),
    ProjectKey(name: "mappings", kind: .list, isPath: true, isOfModel: true),
    ProjectKey(name: policies, kind: .list, isPath: true),
    ProjectKey(name: "versions", kind: .list, isOfModel: true),
    ProjectKey(name: "by-identifier", kind: .flag, isOfModel: true),
    ProjectKey(name: "stages", kind: .single, isPath: true, isOfModel: true),
    ProjectKey(name: "to", kind: .single, isOfModel: true),
    ProjectKey(name: "path", kind: .single, isOfModel: true),
  ]

  private static let settings = [
    ProjectKey(name: "memory", kind: .single), ProjectKey(name: "checkpoint-every", kind: .single),
    ProjectKey(name: "verify", kind: .single, needsTrust: .values(["none"])),
    ProjectKey(name: "validate", kind: .single, needsTrust: .values(["none", "required"])),
    ProjectKey(name: "index-builder", kind: .single), ProjectKey(name: "no-fuse", kind: .flag),
    ProjectKey(name: "workers", kind: .single), ProjectKey(name: "nice", kind: .flag),
    ProjectKey(name: "throttle", kind: .single), ProjectKey(name: "progress", kind: .single),
  ]

  /// What allows a loss, removes files, writes elsewhere or starts programs.
  private static let trusted = [
    ProjectKey(name: "drop", kind: .list, needsTrust: .all),
    ProjectKey(name: "accept-loss", kind: .flag, needsTrust: .all),
    ProjectKey(name: "history", kind: .single, needsTrust: .values(["empty"])),
    ProjectKey(name: "allow-cloudkit", kind: .flag, needsTrust: .all),
    ProjectKey(name: "max-rejects", kind: .single, needsTrust: .all),
    ProjectKey(name: "reject-values", kind: .flag, needsTrust: .all),
    ProjectKey(name: "keep-backups", kind: .single, needsTrust: .all),
    ProjectKey(name: "metrics", kind: .single, needsTrust: .all, isPath: true),
    ProjectKey(name: "log-file", kind: .single, needsTrust: .all, isPath: true),
    ProjectKey(name: "log-level", kind: .single), ProjectKey(name: "notify", kind: .flag, needsTrust: .all),
    ProjectKey(name: "on-success", kind: .single, needsTrust: .all),
    ProjectKey(name: "on-failure", kind: .single, needsTrust: .all),
    ProjectKey(name: "on-stop", kind: .single, needsTrust: .all),
  ]

  static let object = MappingFileObject(title: "the file", definition: "project", keys: all.map(\.name))
}
