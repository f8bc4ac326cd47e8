import ArgumentParser
import Foundation
import Glibc
import Streams
import Testing
import Yams

@testable import BatchCommand

@Suite("Fleets and their schedulers", .serialized) struct FleetSubmitTests {
  private static let job = FleetJob(
    id: "0123456789ab", tasks: 12, limit: 5, program: "/opt/go dwit'",
    words: ["fleet", "run", "--plan", "/d \"a\"/$x%a\n.json"],
    state: "/d `b`/s", time: 7200, grace: 90, processors: 2, memory: 300 << 20, retries: 7)

  @Test(
    "The environment of Slurm, Kubernetes and AWS Batch says which task this is, and --shard says it first",
    arguments: [
      (nil, ["SLURM_ARRAY_TASK_ID": "3"], 3), (nil, ["JOB_COMPLETION_INDEX": "0"], 0),
      (nil, ["AWS_BATCH_JOB_ARRAY_INDEX": "11"], 11),
      ("2/12", ["SLURM_ARRAY_TASK_ID": "3"], 2),
      (
        nil,
        [
          "SLURM_ARRAY_TASK_ID": "12", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "12",
          "SLURM_ARRAY_TASK_COUNT": "12",
        ],
        11
      ),
      (
        nil,
        [
          "SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_MAX": "7",
          "SLURM_ARRAY_TASK_COUNT": "2",
        ], 7
      ),
    ])
  func tasks(shard: String?, environment: [String: String], index: Int) throws {
    #expect(try FleetTask(shard: shard, tasks: 12, environment: environment).index == index)
  }

  @Test(
    "What is no task of the plan is one usage error that names it",
    arguments: [
      (nil, ["SLURM_ARRAY_TASK_ID": "12"], "12"), (nil, ["SLURM_ARRAY_TASK_ID": "-1"], "SLURM_ARRAY_TASK_ID"),
      (nil, ["JOB_COMPLETION_INDEX": ""], "JOB_COMPLETION_INDEX"),
      (nil, ["AWS_BATCH_JOB_ARRAY_INDEX": "1e3"], "AWS_BATCH"),
      (nil, ["SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "x"], "SLURM_ARRAY_TASK_COUNT"),
      ("1", [:], "--shard"),
      ("1/2", [:], "--tasks 2"), ("12/12", [:], "12"), ("/", [:], "--shard"), (nil, [:], "0/12"),
      (nil, ["JOB_COMPLETION_INDEX": "99999999999999999999"], "JOB_COMPLETION_INDEX"),
    ])
  func badTasks(shard: String?, environment: [String: String], word: String) {
    let error = #expect(throws: ValidationError.self) {
      try FleetTask(shard: shard, tasks: 12, environment: environment)
    }
    #expect(error?.message.contains(word) == true)
  }

  @Test("A plan for one task needs nobody to say which; a usage error ends the command with 64")
  func one() throws {
    #expect(try FleetTask(shard: nil, tasks: 1, environment: [:]).index == 0)
    let fleet = try FleetFolder(rows: [300, 300], tasks: 2)
    let outcome = try fleet.run(["run"])
    #expect(outcome.code == 64 && outcome.error.contains("--shard 0/2"), "\(outcome)")
  }

  @Test(
    "Slurm's script is one for bash: array with a limit, a signal before the end, requeue on 75, and words as they are")
  func slurm() throws {
    let folder = try CommandFolder()
    let path = folder.file("fleet.sbatch")
    try SlurmScript.text(Self.job).write(toFile: path, atomically: true, encoding: .utf8)
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    let head = lines.filter { $0.hasPrefix("#SBATCH ") }.map { $0.dropFirst(8) }
    for option in [
      "array=0-11%5", "signal=B:TERM@90", "requeue", "open-mode=append", "time=120", "cpus-per-task=2", "mem=300M",
    ] {
      #expect(head.contains("--\(option)"))
    }
    #expect(try Self.shell(["bash", "-n", path]).code == 0)
    // The script itself, with a program and a scheduler that say how they were called.
    let bin = folder.file("bin")
    try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
    try Self.script("#!/bin/sh\necho \"$@\" >>\(folder.file("requeued"))\n", bin + "/scontrol")
    for (code, isRequeued) in [(75, true), (137, true), (0, false), (30, false), (20, false)] {
      try? FileManager.default.removeItem(atPath: folder.file("requeued"))
      var job = Self.job
      (job.program, job.state) = (folder.file("pro gram"), folder.path)
      try Self.script("#!/bin/sh\nprintf '<%s>' \"$@\"\nexit \(code)\n", job.program)
      try SlurmScript.text(job).write(toFile: path, atomically: true, encoding: .utf8)
      let environment = ["PATH=\(bin):/usr/bin:/bin", "SLURM_ARRAY_JOB_ID=9", "SLURM_ARRAY_TASK_ID=4"]
      #expect(try Self.shell(["env", "-i"] + environment + ["bash", path]).code == Int32(code))
      let said = try String(contentsOfFile: folder.file("task-4.log"), encoding: .utf8)
      #expect(said.hasSuffix(job.words.map { "<\($0)>" }.joined()))
      let requeued = try? String(contentsOfFile: folder.file("requeued"), encoding: .utf8)
      #expect(requeued == (isRequeued ? "requeue 9_4\n" : nil))
      // One that was begun again too often stays ended.
      try? FileManager.default.removeItem(atPath: folder.file("requeued"))
      _ = try Self.shell(["env", "-i"] + environment + ["SLURM_RESTART_COUNT=7", "bash", path])
      #expect(!FileManager.default.fileExists(atPath: folder.file("requeued")))
    }
  }

  @Test("A signal to Slurm's script reaches the task, whose code is the script's")
  func slurmSignal() throws {
    let folder = try CommandFolder()
    var job = Self.job
    (job.program, job.state, job.retries) = (folder.file("program"), folder.path, 0)
    try Self.script(
      "#!/bin/bash\ntrap 'kill $!; sleep 0.2; exit 42' TERM\ntouch \(folder.file("begun"))\nsleep 60 & wait\n",
      job.program)
    let path = folder.file("fleet.sbatch")
    try SlurmScript.text(job).write(toFile: path, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = [path]
    process.environment = ["PATH": "/usr/bin:/bin", "SLURM_ARRAY_JOB_ID": "9", "SLURM_ARRAY_TASK_ID": "4"]
    // Threads of tests hold signals back, and what they start inherits that.
    let starter = try Worker {
      var none = sigset_t()
      sigemptyset(&none)
      pthread_sigmask(SIG_SETMASK, &none, nil)
      try process.run()
    }
    #expect(starter.join() == nil)
    while process.isRunning, !FileManager.default.fileExists(atPath: folder.file("begun")) { usleep(5000) }
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 42)
  }

  @Test(
    "Kubernetes gets an indexed job in which stops are retried, final codes are not, and what befalls a node does not count"
  )
  func kubernetes() throws {
    let text = try KubernetesJob.text(Self.job, image: "a/b:c#d", volume: .init(claim: "x: y", path: "/d \"a\""))
    let root = try #require(try Yams.load(yaml: text) as? [String: Any])
    let spec = try #require(root["spec"] as? [String: Any])
    #expect(root["apiVersion"] as? String == "batch/v1" && root["kind"] as? String == "Job")
    #expect((root["metadata"] as? [String: Any])?["name"] as? String == "godwit-0123456789ab")
    #expect(
      spec["completionMode"] as? String == "Indexed" && spec["completions"] as? Int == 12
        && spec["parallelism"] as? Int == 5)
    #expect(spec["backoffLimitPerIndex"] as? Int == 7 && spec["backoffLimit"] == nil)
    let rules = try #require((spec["podFailurePolicy"] as? [String: Any])?["rules"] as? [[String: Any]])
    #expect(rules.map { $0["action"] as? String } == ["Ignore", "FailIndex"])
    let condition = (rules[0]["onPodConditions"] as? [[String: Any]])?.first
    #expect(condition?["type"] as? String == "DisruptionTarget" && condition?["status"] as? String == "True")
    let codes = try #require(rules[1]["onExitCodes"] as? [String: Any])
    #expect(codes["operator"] as? String == "In" && codes["values"] as? [Int] == [1, 11, 12, 20, 22, 30, 64])
    let pod = try #require((spec["template"] as? [String: Any])?["spec"] as? [String: Any])
    // Demanded by podFailurePolicy.
    #expect(pod["restartPolicy"] as? String == "Never" && pod["terminationGracePeriodSeconds"] as? Int == 90)
    let container = try #require((pod["containers"] as? [[String: Any]])?.first)
    #expect(
      container["name"] as? String == codes["containerName"] as? String && container["image"] as? String == "a/b:c#d")
    #expect(container["command"] as? [String] == [Self.job.program] + Self.job.words + ["--max-runtime", "7110s"])
    let mount = (container["volumeMounts"] as? [[String: Any]])?.first
    let volume = (pod["volumes"] as? [[String: Any]])?.first
    #expect(mount?["name"] as? String == volume?["name"] as? String && mount?["mountPath"] as? String == "/d \"a\"")
    #expect((volume?["persistentVolumeClaim"] as? [String: Any])?["claimName"] as? String == "x: y")
    let bare = try KubernetesJob.text(Self.job, image: "i", volume: nil)
    #expect(try Yams.load(yaml: bare) is [String: Any] && !bare.contains("volume"))
  }

  @Test(
    "AWS Batch gets an array in which 75, signals and lost hosts are retried and all else is not; an array of one is none"
  )
  func batch() throws {
    let definition = BatchArray.definition(Self.job, image: "i", volume: .init(claim: "fs-1", path: "/data"))
    let json = try JSONSerialization.jsonObject(with: Data(JSONOutput.text(definition).utf8)) as? [String: Any]
    #expect(
      Set(json?.keys.map { $0 } ?? []) == [
        "jobDefinitionName", "type", "containerProperties", "retryStrategy", "timeout",
      ])
    #expect(definition.type == "container" && definition.timeout?.attemptDurationSeconds == 7200)
    #expect(definition.retryStrategy.attempts == 8)
    let conditions = definition.retryStrategy.evaluateOnExit
    #expect(
      conditions.first == .init(onExitCode: "75", action: "RETRY")
        && conditions.last == .init(onReason: "*", action: "EXIT"))
    // Its limit is five.
    #expect(conditions.map(\.onExitCode) == ["75", nil, "13*", "14*", nil])
    #expect(definition.containerProperties.command.last == "7110s")
    #expect(definition.containerProperties.resourceRequirements.map(\.value) == ["2", "300"])
    #expect(
      definition.containerProperties.volumes.map(\.name)
        == definition.containerProperties.mountPoints.map(\.sourceVolume))
    #expect(BatchArray.submission(Self.job, queue: "q").arrayProperties?.size == 12)
    var one = Self.job
    one.tasks = 1
    #expect(BatchArray.submission(one, queue: "q").arrayProperties == nil)
  }

  @Test("The local engine works a fleet off; a dry run only writes; the page has no script and names what failed")
  func local() throws {
    let fleet = try FleetFolder(rows: [300, 300, 300], tasks: 3)
    try Data("<script>".utf8).write(to: URL(fileURLWithPath: fleet.stores[2]))
    let dry = try fleet.run(["submit", "--engine", "slurm", "--dry-run", "--limit", "2"])
    #expect(dry.code == 0 && dry.output == fleet.state + "/fleet.sbatch\n", "\(dry)")
    let outcome = try fleet.run(["submit", "--engine", "local", "--limit", "2"])
    #expect(outcome.code == 30, "\(outcome)")
    let before = try fleet.folder.tree()
    let status = try fleet.run(["status"])
    #expect(status.output.contains("3 of 3 stores have ended") && status.output.contains("failed: "), "\(status)")
    #expect(try fleet.folder.tree() == before)
    let page = fleet.folder.file("page.html")
    #expect(try fleet.run(["status", "--html", page]).code == 0)
    let html = try String(contentsOfFile: page, encoding: .utf8)
    #expect(
      html.contains("Failed: 1") && !html.contains("<script") && !html.contains("src=") && !html.contains("http:"))
  }

  private static func script(_ text: String, _ path: String) throws {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
  }

  private static func shell(_ words: [String]) throws -> (code: Int32, output: String) {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }
}
