import ArgumentParser

/// The help of arguments that several commands have: one wording and one placeholder for each.
extension ArgumentHelp {
  static let store = ArgumentHelp("The store.", valueName: "store")
  static let run = ArgumentHelp("The store, or the output of the migration.", valueName: "store")
  static let models = ArgumentHelp(
    "Models: .xcdatamodeld, .xcdatamodel, .momd, .mom, Swift sources (of a commit: PATH@TAG), folders of them, or stores that carry their model.",
    valueName: "model")
  static let mappings = ArgumentHelp(
    "Mapping models: .xcmappingmodel, .cdm, .yaml, .yml, .json, or a folder of them.", valueName: "mapping")
  static let app = ArgumentHelp(
    "The application, instead of its models: a folder with its sources, an .app, an .ipa or an .xcarchive. The model that fits the store is taken, with its mapping models.",
    valueName: "path")
  static let bundle = ArgumentHelp(
    "With --app: this model of the application, by its name or its path as `app` lists it.", valueName: "model")
  static let sourceSide = ArgumentHelp(
    "The old version: MODEL, MODEL:VERSION, a store, or a version of --models.", valueName: "source")
  static let destinationSide = ArgumentHelp(
    "The new version: MODEL, MODEL:VERSION, a store, or a version of --models.", valueName: "destination")
  static let output = ArgumentHelp("Where the new store goes; then the old one stays as it is.", valueName: "path")
  static let history = ArgumentHelp(
    "Persistent history: keep it, and refuse if it would become untrue; or empty it.", valueName: "mode")
  static let memory = ArgumentHelp(
    "Peak memory, for example 256M; at least \(ByteCount.leastMemory). Default: \(ByteCount.standardMemory).",
    valueName: "size")
  static let workers = ArgumentHelp("Use at most this many processors; the result is the same.", valueName: "count")
  static let jobs = ArgumentHelp("How many stores of a list to work on at a time.", valueName: "count")
  static let manifest = ArgumentHelp(
    "A list of stores, in the place of one: one a line, and its output after a tab. - is standard input.",
    valueName: "path")
  static let indexBuilder = ArgumentHelp(
    "Who builds the indexes: engine, or SQLite itself (sqlite), which is slower.", valueName: "builder")
  static let keepBackups = ArgumentHelp(
    "How many backups of a store to keep, with the newest: a number, or an age as 30d. Default: all.",
    valueName: "count")
  static let checkpointEvery = ArgumentHelp(
    "How often to publish a checkpoint: a time (1s) or a size (64M).", valueName: "interval")
  static let verify = ArgumentHelp(
    "How the result is verified before it gets its name: fast, full, sqlite or none.", valueName: "mode")
  static let deadline = ArgumentHelp(
    "Stop in good order by this time of day (06:00), or by an ISO 8601 date with time.", valueName: "time")
  static let maxRuntime = ArgumentHelp(
    "Stop in good order before this much time is over: 90s, 30min, 2h.", valueName: "duration")
  static let html = ArgumentHelp("Write a page that needs no network: a file that ends in .html.", valueName: "path")
  static let hash: ArgumentHelp =
    "Print size and SHA-256 of the store's files on standard error, taken before and after; a difference is an error."
  static let json: ArgumentHelp = "Print JSON."
  static let quiet: ArgumentHelp = "Show no progress and no summary."
}
