import Batch
import Foundation

/// What a scheduler needs to know of a fleet's tasks.
struct FleetJob {
  /// The plan's id, its beginning: part of names.
  var id: String
  var tasks: Int
  /// Tasks at a time.
  var limit: Int
  /// The program on the machines of the tasks.
  var program: String
  /// `fleet run` with all but what says which task it is.
  var words: [String]
  /// The state's folder.
  var state: String
  /// Seconds that a task may run; nil for no limit.
  var time: Double?
  /// Seconds before that in which it comes to its end.
  var grace: Int
  var processors: Int
  /// Bytes that a task takes, all its processes together.
  var memory: UInt64
  /// How often a task that was stopped begins again.
  var retries: Int

  var name: String { "godwit-\(id)" }
  var megabytes: UInt64 { (memory + (1 << 20) - 1) >> 20 }

  /// Makes a task stop in time by itself, if the scheduler gives no signal before its limit.
  var timedWords: [String] {
    words + (time.map { ["--max-runtime", "\(max(1, Int($0) - grace))s"] } ?? [])
  }

  /// Codes that another attempt does not change.
  static let final: [Int32] = [1, 11, 12, 20, 22, 30, 64]

  /// A task that was stopped, or was ended by a signal, as where memory is short.
  static func beginsAgain(_ code: Int32) -> Bool { code == ExitCodes.stopped || code >= 128 }
}

/// An array job of Slurm.
enum SlurmScript {
  /// A script for bash. Its head has numbers and names alone; paths are in its body, quoted.
  static func text(_ job: FleetJob) -> String { head(job) + body(job) }

  private static func head(_ job: FleetJob) -> String {
    let time = job.time.map { "#SBATCH --time=\(max(1, Int(($0 / 60).rounded(.up))))\n" } ?? ""
    return """
      #!/bin/bash
      #SBATCH --job-name=\(job.name)
      #SBATCH --array=0-\(job.tasks - 1)%\(job.limit)
      #SBATCH --cpus-per-task=\(job.processors)
      #SBATCH --mem=\(job.megabytes)M
      \(time)#SBATCH --signal=B:TERM@\(job.grace)
      #SBATCH --requeue
      #SBATCH --open-mode=append
      #SBATCH --output=/dev/null

      """
  }

  private static func body(_ job: FleetJob) -> String {
    """
    # One task of a fleet. A signal before the limit stops it in good order: it ends with 75 and is queued again.
    child= stop=
    trap 'again=1 stop=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' TERM INT
    state=\(ShellWords.quoted(job.state))
    exec >>"$state/task-$SLURM_ARRAY_TASK_ID.log" 2>&1
    \(ShellWords.line([job.program] + job.words)) &
    child=$!
    # A signal may come before the child exists, and a wait that a signal ends does not return the code of the child.
    [ -z "$stop" ] || kill -TERM "$child" 2>/dev/null
    again=1
    while [ "$again" ]; do
      again=
      wait "$child"
      code=$?
    done
    # A task that was stopped, or killed by a signal, is tried again.
    if { [ "$code" -eq 75 ] || [ "$code" -ge 128 ]; } && [ "${SLURM_RESTART_COUNT:-0}" -lt \(job.retries) ]; then
      task="${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
      # The controller may be unavailable for a moment.
      scontrol requeue "$task" || { sleep 5; scontrol requeue "$task"; }
    fi
    exit "$code"

    """
  }
}

/// An indexed job of Kubernetes, batch/v1.
enum KubernetesJob {
  struct Volume {
    /// The persistent volume claim.
    var claim: String
    /// Where it is mounted.
    var path: String
  }

  /// YAML, all texts quoted as JSON does.
  static func text(_ job: FleetJob, image: String, volume: Volume?) throws -> String {
    """
    apiVersion: batch/v1
    kind: Job
    metadata:
      name: \(job.name)
    spec:
      completionMode: Indexed
      completions: \(job.tasks)
      parallelism: \(job.limit)
      backoffLimitPerIndex: \(job.retries)
      maxFailedIndexes: \(job.tasks)
      podFailurePolicy:
        rules:
          # A node that goes down does not count as a failure of the task.
          - action: Ignore
            onPodConditions:
              - type: DisruptionTarget
                status: "True"
          # These codes are final. 75, a stop, counts as an attempt and is tried again.
          - action: FailIndex
            onExitCodes:
              containerName: godwit
              operator: In
              values: [\(FleetJob.final.map(String.init).joined(separator: ", "))]
    \(try pod(job, image))\(try volume.map(mounts) ?? "")
    """
  }

  private static func pod(_ job: FleetJob, _ image: String) throws -> String {
    """
      template:
        metadata:
          labels:
            app: \(job.name)
        spec:
          restartPolicy: Never
          terminationGracePeriodSeconds: \(job.grace)
          containers:
            - name: godwit
              image: \(try quoted(image))
              command: [\(try ([job.program] + job.timedWords).map(quoted).joined(separator: ", "))]
              resources:
                requests:
                  cpu: "\(job.processors)"
                  memory: \(job.megabytes)Mi
                limits:
                  memory: \(job.megabytes)Mi

    """
  }

  private static func mounts(_ volume: Volume) throws -> String {
    """
              volumeMounts:
                - name: stores
                  mountPath: \(try quoted(volume.path))
          volumes:
            - name: stores
              persistentVolumeClaim:
                claimName: \(try quoted(volume.claim))

    """
  }

  private static func quoted(_ text: String) throws -> String { try JSONOutput.line(text) }
}

/// An array job of AWS Batch: a job definition, and what submits it.
enum BatchArray {
  struct Definition: Codable, Equatable {
    struct Resource: Codable, Equatable {
      var type: String
      var value: String
    }
    struct Volume: Codable, Equatable {
      struct FileSystem: Codable, Equatable {
        var fileSystemId: String
        var transitEncryption = "ENABLED"
      }
      var name: String
      var efsVolumeConfiguration: FileSystem
    }
    struct Mount: Codable, Equatable {
      var sourceVolume: String
      var containerPath: String
    }
    struct Container: Codable, Equatable {
      var image: String
      var command: [String]
      var resourceRequirements: [Resource]
      var volumes: [Volume]
      var mountPoints: [Mount]
    }
    struct Condition: Codable, Equatable {
      var onExitCode: String?
      var onStatusReason: String?
      var onReason: String?
      var action: String
    }
    struct Retry: Codable, Equatable {
      var attempts: Int
      var evaluateOnExit: [Condition]
    }
    struct Timeout: Codable, Equatable { var attemptDurationSeconds: Int }

    var jobDefinitionName: String
    var type = "container"
    var containerProperties: Container
    var retryStrategy: Retry
    var timeout: Timeout?
  }

  struct Submission: Codable, Equatable {
    struct Array: Codable, Equatable { var size: Int }
    var jobName: String
    var jobQueue: String
    var jobDefinition: String
    /// An array has two tasks at least.
    var arrayProperties: Array?
  }

  static func definition(_ job: FleetJob, image: String, volume: KubernetesJob.Volume?) -> Definition {
    let container = Definition.Container(
      image: image, command: [job.program] + job.timedWords,
      resourceRequirements: [
        .init(type: "VCPU", value: "\(job.processors)"), .init(type: "MEMORY", value: "\(job.megabytes)"),
      ],
      volumes: volume.map { [.init(name: "stores", efsVolumeConfiguration: .init(fileSystemId: $0.claim))] } ?? [],
      mountPoints: volume.map { [.init(sourceVolume: "stores", containerPath: $0.path)] } ?? [])
    let retry = Definition.Retry(
      attempts: min(10, job.retries + 1),
      evaluateOnExit: [
        .init(onExitCode: "75", action: "RETRY"), .init(onStatusReason: "Host EC2*", action: "RETRY"),
        // Ended by a signal.
        .init(onExitCode: "13*", action: "RETRY"), .init(onExitCode: "14*", action: "RETRY"),
        .init(onReason: "*", action: "EXIT"),
      ])
    return Definition(
      jobDefinitionName: job.name, containerProperties: container, retryStrategy: retry,
      timeout: job.time.map { .init(attemptDurationSeconds: max(60, Int($0))) })
  }

  static func submission(_ job: FleetJob, queue: String) -> Submission {
    Submission(
      jobName: job.name, jobQueue: queue, jobDefinition: job.name,
      arrayProperties: job.tasks > 1 ? .init(size: job.tasks) : nil)
  }
}
