import ArgumentParser
import Batch

/// Which task of a fleet this process is: by `--shard`, or by what Slurm, Kubernetes or AWS Batch put into the
/// environment.
struct FleetTask: Equatable {
  /// From 0.
  var index: Int

  /// Throws a usage error that names the variable if it makes no sense.
  init(shard: String?, tasks: Int, environment: [String: String]) throws {
    if let shard {
      index = try Self.shard(shard, tasks)
    } else if let id = environment["SLURM_ARRAY_TASK_ID"] {
      index = try Self.slurm(id, tasks: tasks, environment: environment)
    } else if let name = ["JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX"].first(where: { environment[$0] != nil })
    {
      index = try Self.number(environment[name] ?? "", name)
    } else {
      guard tasks == 1 else {
        throw ValidationError("the plan is for \(tasks) tasks: say which one this is, --shard 0/\(tasks) for the first")
      }
      index = 0
    }
    guard index < tasks else {
      throw ValidationError(
        "this is task \(index), and the plan is for \(tasks), from 0: start as many, or make a plan for more")
    }
  }

  private static func shard(_ text: String, _ tasks: Int) throws -> Int {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let count = Int(parts[1]), count > 0 else {
      throw ValidationError("--shard takes a task and their number, as 0/\(tasks) for the first one, and not \(text)")
    }
    guard count == tasks else {
      throw ValidationError(
        "the plan is for \(tasks.counted("task")), and --shard \(text) says \(count): make another plan with --tasks \(count)"
      )
    }
    return try number(parts[0], "--shard")
  }

  /// An array of all tasks may begin at another number than 0; of a part of them the numbers are the tasks'.
  private static func slurm(_ id: String, tasks: Int, environment: [String: String]) throws -> Int {
    let index = try number(id, "SLURM_ARRAY_TASK_ID")
    let names = ["SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX"]
    let known = try names.map { name in try environment[name].map { try number($0, name) } }
    guard let count = known[0], let least = known[1], let most = known[2], count == tasks, most - least == tasks - 1,
      index >= least
    else { return index }
    return index - least
  }

  private static func number(_ text: String, _ name: String) throws -> Int {
    guard !text.isEmpty, text.utf8.count < 10, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(text)
    else {
      throw ValidationError("\(name) is to be a number from 0, and not \(text.prefix(40))")
    }
    return number
  }
}
