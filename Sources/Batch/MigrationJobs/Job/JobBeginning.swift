import CoreDataModel
import CoreDataStore
import Foundation
import MappingModels
import Migrations
import RunSupport
import Streams

// How a new run begins: what is refused before anything is written, and what it is to do.
extension MigrationJob {
  /// Refuses what would be refused at the end: a run does not work for hours for that.
  func refuseEarly(_ plan: MigrationPlan, _ job: JobDirectory, isInPlace: Bool, memory: MemoryBudget) throws {
    try refuseMemory(memory, for: plan.source, over: MemoryLimit())
    if !isInPlace { try refuseTakenNames(plan, job) }
    let directory = FilePaths.directory(of: job.destination)
    try refuseDisk(plan.diskNeeded, for: plan.source, in: directory)
    guard mayWrite(directory) else {
      throw BatchError(
        .refused, "the directory cannot be written",
        hint: "Choose another place with --output, or run as a user who may write there", effect: .nothingWritten,
        path: directory
      )
    }
    if isInPlace { try refuseUnwritable(plan.source) }
  }

  /// Refuses a plan that does not fit: by disk and memory, as a migration would before it begins. A forecast may say that
  /// it takes more.
  ///
  /// - Throws: ``BatchError``: `refused`.
  public func refuse(_ request: Request, _ plan: MigrationPlan, forecast: MigrationForecast) throws {
    try BatchError.looking {
      try refuseMemory(request.memory, for: request.source, over: MemoryLimit())
      let job = try JobDirectory(destination: request.output ?? request.source)
      let bytes = max(plan.diskNeeded, forecast.peakDisk)
      try refuseDisk(bytes, for: request.source, in: FilePaths.directory(of: job.destination))
    }
  }

  func refuseMemory(_ memory: MemoryBudget, for source: String, over limit: MemoryLimit) throws {
    guard let most = limit.find(), most.bytes < UInt64(memory.total) else { return }
    throw BatchError(
      .refused, "the migration may take \(memory.total >> 20) MiB of memory, \(most.by) \(most.bytes >> 20) MiB",
      hint:
        "Give it less with --memory (\(MemoryBudget.minimum >> 20) MiB is the least), or more to the process",
      effect: .nothingWritten,
      path: source)
  }

  func refuseDisk(_ bytes: UInt64, for source: String, in directory: String) throws {
    let free = try fileSystem.availableSpace(directory)
    let (needed, overflow) = bytes.addingReportingOverflow(try externalBytes(source, directory))
    guard overflow || free < needed else { return }
    throw BatchError(
      .refused, "the migration needs \(needed >> 20) MiB on the disk, \(free >> 20) MiB are free",
      hint: "Free space, or choose another disk with --output", effect: .nothingWritten, path: directory)
  }

  /// As this process's user, whatever the real one is.
  func mayWrite(_ path: String) -> Bool { faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 }

  private func refuseUnwritable(_ store: String) throws {
    guard !mayWrite(store) else { return }
    throw BatchError(
      .refused, "this user may read the store but not replace it",
      hint: "Run as its owner, or write the result elsewhere with --output", effect: .nothingWritten, path: store)
  }

  /// The output's name is free, and so is the folder that its external data would have: that may be another store's,
  /// whose name differs in its extension alone.
  func refuseTakenNames(_ plan: MigrationPlan, _ job: JobDirectory) throws {
    guard try fileSystem.statusOfName(job.destination) == nil else {
      throw BatchError(
        .refused, "the output exists already", hint: "Choose another path, or move the file away",
        effect: .nothingWritten,
        path: job.destination)
    }
    let folder = ExternalDataFolder(store: job.destination)
    guard try fileSystem.statusOfName(folder.path) == nil else {
      throw BatchError(
        .refused, "a folder of external data lies where the output's would be",
        hint: "Choose another name for the output, or move the folder away if no store needs it",
        effect: .nothingWritten,
        path: folder.path)
    }
    let models = plan.steps.flatMap { [$0.origin, $0.destination] }
    let hasValues = models.contains {
      $0.entities.contains { $0.attributes.contains(where: \.allowsExternalBinaryDataStorage) }
    }
    guard hasValues, let other = try storeSharing(folder, but: job.destination) else { return }
    throw BatchError(
      .refused, "the output would share its folder of external data with \(FilePaths.name(of: other))",
      hint: "Choose a name that differs in more than its extension", effect: .nothingWritten, path: job.destination)
  }

  private func storeSharing(_ folder: ExternalDataFolder, but destination: String) throws -> String? {
    let directory = FilePaths.directory(of: folder.path)
    return try fileSystem.list(directory).map { FilePaths.join(directory, $0) }.first { path in
      guard path != destination, ExternalDataFolder(store: path) == folder else { return false }
      return try fileSystem.status(path)?.isRegularFile == true && FileKind.isDatabase(path, fileSystem)
    }
  }

  /// Files of external data are linked, except for a destination on another file system than the folder, which may be a
  /// symbolic link.
  private func externalBytes(_ source: String, _ directory: String) throws -> UInt64 {
    let folder = try fileSystem.status(ExternalDataFolder(store: source).path)
    guard let folder, try folder.device != fileSystem.status(directory)?.device else { return 0 }
    return try ExternalDataCopy(fileSystem: fileSystem).bytes(of: source)
  }

  /// What a run is to do, without what only a resume needs: nothing is written. `seen` is the source as it is under the
  /// run's lock, `token` that of the lease.
  func jobPlan(
    _ request: Request, plan: MigrationPlan, job: JobDirectory, source: String, seen: StoreSighting, token: String
  ) throws -> JobPlan {
    // The version's name, not "the current one": the run does not ask again which one that is.
    let target = request.target == .identity ? MigrationTarget.identity : .version(plan.targetVersion.name)
    var run = JobPlan(
      source: source, destination: job.destination, sourceVersion: plan.sourceVersion.name,
      targetVersion: plan.targetVersion.name,
      target: target, extras: request.extras, successors: plan.successors, stages: request.order.stages,
      fuses: request.makesOnePass,
      parts: request.parts.isAll ? nil : request.parts,
      steps: plan.steps.count,
      models: [], mappings: [], now: plan.now,
      memory: request.memory.total, verification: request.verification, indexBuilding: request.indexBuilding,
      backupSuffix: try StoreBackup.freeSuffix(.replaced, of: job.destination, now: plan.now, fileSystem: fileSystem),
      keepsBackups: request.keepsBackups, notes: plan.notes, planFingerprint: "",
      sourceFingerprint: seen.state.fingerprint, sourceModified: seen.state.modified, sourceInode: seen.inode,
      policies: try policyVersions(plan.steps))
    run.rejects = request.rejects.map { limit in
      RejectPlan(limit: limit.count(rows: plan.rows.reduce(0) { $0 + $1.rows }), withValues: limit.withValues)
    }
    (run.inference, run.fromTables) = (request.inference, request.fromTables ? true : nil)
    if request.validation != .all { run.validation = request.validation }
    if request.consent != LossConsent() { run.consent = request.consent }
    if !request.arguments.isEmpty { run.arguments = request.arguments }
    if !run.policies.isEmpty { run.program = ProgramName.current }
    (run.origin, run.madeFrom, run.token) = (request.origin, request.madeFrom, token)
    run.hold(by: request.heldBy)
    switch request.interval {
    case .seconds(let seconds): run.checkpointSeconds = seconds
    case .bytes(let bytes): run.checkpointBytes = bytes
    }
    return run
  }

  func policyVersions(_ steps: [MigrationStep]) throws -> [String: String] {
    var versions: [String: String] = [:]
    for mapping in steps.flatMap(\.mappingModels).flatMap(\.entityMappings) {
      if let name = mapping.policyClassName { versions[name] = try policies.version(for: mapping) }
    }
    return versions
  }
}
