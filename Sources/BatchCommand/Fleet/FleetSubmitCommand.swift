import ArgumentParser
import Batch
import Foundation
import Streams

struct FleetSubmitCommand: ParsableCommand {
  enum Engine: String, ExpressibleByArgument, CaseIterable { case slurm, k8s, aws, local }

  static let configuration = CommandConfiguration(
    commandName: "submit",
    abstract: "Writes the tasks of a plan as a job for a scheduler. With slurm and local it also starts them.",
    discussion: """
      slurm writes fleet.sbatch, an array job, and hands it to sbatch. k8s writes job.yaml, an indexed job. aws writes \
      job-definition.json and submit-job.json, for `aws batch … --cli-input-json`. local starts processes on this machine and waits \
      for them. A task that ends with 75 is started again; one that ends with another code is not.
      """)

  @OptionGroup var fleet: FleetArguments
  @Option(name: .long, help: ArgumentHelp("slurm, k8s, aws or local.", valueName: "engine")) var engine: Engine
  @Option(
    name: .long,
    help: ArgumentHelp("The folder to write the files to. Default: that of the fleet's state.", valueName: "path"),
    completion: .directory)
  var output: String?
  @Flag(name: .long, help: "Write the files, and start nothing.") var dryRun = false
  @Option(name: .long, help: ArgumentHelp("How many tasks at a time. Default: all.", valueName: "count")) var limit:
    Int?
  @Option(name: .long, help: ArgumentHelp("How long a task may run: 30min, 12h.", valueName: "duration")) var time:
    TimeSpan?
  @Option(
    name: .long,
    help: ArgumentHelp("How many seconds before that time a task is stopped in good order.", valueName: "seconds"))
  var grace = 60
  @Option(name: .long, help: ArgumentHelp("How often a stopped task is started again.", valueName: "count"))
  var retries = 20
  @Option(name: .long, help: .jobs) var jobs = 1
  @Option(name: .long, help: .workers) var workers: Int?
  @Option(name: .long, help: .memory, transform: ByteCount.memory) var memory = ByteCount.standardMemory
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The program on the machines of the tasks. Default: this one, and godwit in images.", valueName: "path"),
    completion: .file())
  var program: String?
  @Option(name: .long, help: ArgumentHelp("k8s, aws: the image.", valueName: "image")) var image: String?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "k8s, aws: the volume with stores, plan and state, and where it is mounted: CLAIM:/path, fs-…:/path.",
      valueName: "volume"))
  var volume: String?
  @Option(name: .long, help: ArgumentHelp("aws: the job queue.", valueName: "queue")) var queue: String?

  func validate() throws {
    guard limit ?? 1 >= 1, jobs >= 1, workers ?? 1 >= 1 else {
      throw ValidationError("--limit, --jobs and --workers are 1 or more")
    }
    guard (10...86_400).contains(grace) else { throw ValidationError("--grace is from 10 to 86400 seconds") }
    guard (0...1000).contains(retries) else { throw ValidationError("--retries is from 0 to 1000") }
    if let time, time.seconds < Double(grace + 60) {
      throw ValidationError("--time is to be a minute more than --grace, at least")
    }
    let isImage = engine == .k8s || engine == .aws
    guard !isImage || image != nil else { throw ValidationError("--engine \(engine.rawValue) needs --image") }
    guard engine != .aws || queue != nil else { throw ValidationError("--engine aws needs --queue") }
    guard volume == nil || mount != nil else {
      throw ValidationError("--volume takes a name and a path, as CLAIM:/path")
    }
  }

  func run() throws {
    let (plan, state) = try fleet.open()
    _ = try FleetMigrationOptions(of: plan, path: fleet.planPath)
    let job = job(plan, state)
    let folder = output.map(FleetArguments.absolute) ?? state.directory
    try state.create()
    try LocalFileSystem().makeDirectory(folder)
    switch engine {
    case .slurm:
      let path = try write(SlurmScript.text(job), name: "fleet.sbatch", folder: folder)
      if !dryRun { try sbatch(path) }
    case .k8s:
      _ = try write(KubernetesJob.text(job, image: image ?? "", volume: mount), name: "job.yaml", folder: folder)
    case .aws:
      let definition = BatchArray.definition(job, image: image ?? "", volume: mount)
      _ = try write(JSONOutput.text(definition) + "\n", name: "job-definition.json", folder: folder)
      _ = try write(
        JSONOutput.text(BatchArray.submission(job, queue: queue ?? "")) + "\n", name: "submit-job.json", folder: folder)
    case .local: if !dryRun { try FleetLocal(job).run() }
    }
  }

  private var mount: KubernetesJob.Volume? {
    guard let parts = volume?.split(separator: ":", maxSplits: 1).map(String.init), parts.count == 2,
      parts[1].hasPrefix("/"),
      !parts[0].isEmpty
    else { return nil }
    return KubernetesJob.Volume(claim: parts[0], path: parts[1])
  }

  private func job(_ plan: FleetPlan, _ state: FleetState) -> FleetJob {
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    let words =
      [
        "fleet", "run", "--plan", fleet.planPath, "--state", state.directory, "--jobs", "\(jobs)", "--memory",
        "\(memory.bytes)",
      ]
      + (workers.map { ["--workers", "\($0)"] } ?? [])
    return FleetJob(
      id: String(plan.id.prefix(12)), tasks: plan.tasks, limit: min(limit ?? plan.tasks, plan.tasks),
      program: program ?? (engine == .k8s || engine == .aws ? "godwit" : own), words: words, state: state.directory,
      time: time?.seconds, grace: grace, processors: jobs * (workers ?? 1),
      // The process that watches takes little, and more for a plan of many stores.
      memory: UInt64(jobs) &* memory.bytes &+ (64 << 20) &+ UInt64(plan.stores.count) &* 2048, retries: retries)
  }

  private func write(_ text: String, name: String, folder: String) throws -> String {
    let path = FilePaths.join(folder, name)
    try OutputPath("--output", path).check()
    try LocalFileSystem().writeDurably(Array(text.utf8), to: path)
    Console.print(path)
    return path
  }

  private func sbatch(_ path: String) throws {
    // What is said here comes before what sbatch says.
    fflush(nil)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["sbatch", path]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BatchError(
        .failed, "sbatch did not take the job",
        hint: "Its script is written: correct the reason, and hand it to sbatch",
        path: path)
    }
  }
}
