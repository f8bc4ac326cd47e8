import Streams

/// A page of rows, with the bytes that the scan had read by then.
struct ScannedPage: Sendable {
  let rows: RowPage
  let bytesRead: UInt64
}

/// Finished records of one page of rows, with the mark of a checkpoint after them.
struct Parcel: Sendable {
  let records: RecordPage
  let mark: CheckpointMark?
}

/// Takes the finished records of a unit, in order: writes them, finishes the checkpoint that may follow, and hands them on
/// to those who collect entries of indexes.
final class ParcelWriter: @unchecked Sendable {
  // Sendable: used by one thread at a time; the step's own thread leaves the output alone meanwhile.
  private let output: StepOutput
  private let unit: Int
  private let job: StepJob
  private let collector: EntryCollector?
  private let used: BoundedQueue<RecordPage>

  /// `used` gets pages whose records nobody needs any more.
  init(
    _ output: StepOutput, unit: Int, job: StepJob, collector: EntryCollector?, used: BoundedQueue<RecordPage>
  ) {
    (self.output, self.unit, self.job, self.collector, self.used) = (output, unit, job, collector, used)
  }

  func take(_ parcel: Parcel) throws {
    try output.take(parcel.records)
    job.rehearsal?.written(unit: unit, rows: output.rowCounts)
    if let mark = parcel.mark { try mark.finish(output, job.publish) }
    if let collector { return try collector.push(parcel.records) }
    parcel.records.reset()
    try used.push(parcel.records)
  }

  /// The same as a stage of a crew's work.
  func stage(of crew: Crew) -> CrewStage<Parcel> {
    let depth = Pipeline<ScannedPage, Parcel>.depth
    return collector?.stage.map { CrewStage(crew, capacity: depth, next: $0, take) }
      ?? CrewStage(crew, capacity: depth, take)
  }
}
