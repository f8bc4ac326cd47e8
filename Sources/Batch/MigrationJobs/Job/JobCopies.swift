import CoreDataModel
import MappingModels
import Migrations
import RunSupport
import Streams

// What makes a run one that can be resumed: its plan, with copies of models and mapping models.
extension MigrationJob {
  /// Writes a plan down, with copies of everything that it refers to: from then on the run can be resumed.
  func writeDown(_ plan: JobPlan, of request: Request, steps: [MigrationStep], job: JobDirectory, log: JobLog?) throws
    -> JobPlan
  {
    try job.create(fileSystem)
    var plan = plan
    plan.models = try modelCopies(request.models, job: job)
    plan.mappings = try copies(
      request.mappings, folder: "mappings", job: job, find: MappingModelReader.documents(below:))
    plan.planFingerprint = PlanFingerprint.hex(
      try PlanFingerprint.of(
        steps: steps, extras: request.extras, indexes: request.indexBuilding, policies: policies, now: plan.now))
    try plan.write(to: job, fileSystem)
    if let program = plan.program { JobRegistry(fileSystem).record(program: program) }
    if let error = JobRegistry(fileSystem).record(source: plan.namedSource, job: job) {
      try log?.append("the run cannot be found by its source, only by its destination: \(error)")
    }
    return plan
  }

  /// Copies models into the job directory. Those in another form than Xcode's become models of Xcode's: to read sources
  /// again would take what the command was told of them, and the commit that they are in.
  private func modelCopies(_ paths: [String], job: JobDirectory) throws -> [String] {
    let others = paths.filter { ModelFormats.format(of: $0) != nil }
    var packages = try copies(paths.filter { !others.contains($0) }, folder: "models", job: job) {
      try PackageFolders.find(ModelReader.extensions, below: $0, code: .badModel)
    }
    for bundle in try ModelReader.read(paths: others) {
      let folder = "models/\(packages.count)"
      let package = "\(folder)/\(bundle.name).xcdatamodeld"
      for path in [folder, package] { try fileSystem.makeDirectory(job.file(path)) }
      for version in bundle.versions {
        let path = "\(package)/\(version.name).xcdatamodel"
        try fileSystem.makeDirectory(job.file(path))
        let text = try ModelXMLWriter.contents(of: version)
        try fileSystem.writeDurably(Array(text.utf8), to: job.file(path + "/contents"))
      }
      for path in [package, folder, "models"] { try fileSystem.syncDirectory(job.file(path)) }
      packages.append(package)
    }
    return packages
  }

  /// Copies models or mapping models into the job directory, each package under a number, so that names cannot collide.
  /// Only what the readers read is copied, and it is durable on return.
  func copies(
    _ paths: [String], folder: String, job: JobDirectory, find: (String) throws -> [String]
  ) throws -> [String] {
    var packages: [String] = []
    for path in paths {
      // The name says which version a file is; a link has its own.
      let path = try StoreDocument.isStore(path) ? path : JobDirectory.resolve(path)
      // A file is named by itself: a mapping model's xcmapping.xml.
      packages += PackageFolders.isFolder(path) ? try find(path) : [path]
    }
    let names = StoreDocument.names(try packages.filter(StoreDocument.isStore))
    let copies = try packages.enumerated().map { index, package in
      var relative = "\(folder)/\(index)/\(FilePaths.name(of: package))"
      try fileSystem.makeDirectory(job.file("\(folder)/\(index)"))
      if let name = names[package] {
        relative = "\(folder)/\(index)/\(name).mom"
        try fileSystem.writeAndSync(try StoreDocument.compiled(package), to: job.file(relative))
      } else {
        try copy(package, to: job.file(relative), depth: 8)
      }
      for table in try MappingModelReader.tableFiles(of: package) {
        try copy(
          FilePaths.join(FilePaths.directory(of: package), table), to: job.file("\(folder)/\(index)/\(table)"), depth: 0
        )
      }
      try fileSystem.syncDirectory(job.file("\(folder)/\(index)"))
      return relative
    }
    try fileSystem.syncDirectory(job.file(folder))
    return copies
  }

  /// Copies a file or a folder. All is durable once the folder that it lies in is synced: nothing refers to it before.
  private func copy(_ path: String, to target: String, depth: Int) throws {
    guard try fileSystem.status(path)?.isDirectory == true else {
      return try fileSystem.writeAndSync(try fileSystem.readAll(path, cap: 256 << 20), to: target)
    }
    guard depth > 0 else { throw BatchError(.badModel, "folders are nested too deeply", path: path) }
    try fileSystem.makeDirectory(target)
    for name in try fileSystem.list(path) {
      try copy(FilePaths.join(path, name), to: FilePaths.join(target, name), depth: depth - 1)
    }
    try fileSystem.syncDirectory(target)
  }
}
