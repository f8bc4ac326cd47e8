import Batch

/// The estimate of a plan, as people read it.
struct ForecastText {
  let forecast: MigrationForecast

  init(_ forecast: MigrationForecast) { self.forecast = forecast }

  var lines: [String] {
    var lines = [
      "estimate, from a trial of \(forecast.sampledRows.counted("row")): \(Self.seconds(forecast.seconds)), "
        + "at the peak \(Console.size(forecast.peakDisk)) of disk and \(Console.size(forecast.peakMemory)) of memory"
    ]
    for (index, step) in forecast.steps.enumerated() {
      lines.append("  step \(index + 1): \(Self.seconds(step.seconds)), a store of \(Console.size(step.bytes))")
      for part in step.parts {
        lines.append(
          "    \(part.name): \(Self.seconds(part.seconds)), \(part.rowsRead.counted("row")) read, "
            + "\(Console.count(part.rowsWritten)) written")
      }
      for (entity, count) in step.objects.sorted(by: { $0.key < $1.key }) where count.least < count.most {
        lines.append(
          "    objects of \(entity): about \(Console.count(count.likely)), \(Console.count(count.least)) to \(Console.count(count.most))"
        )
      }
      if step.changeSeconds >= 0.1 { lines.append("    late changes: \(Self.seconds(step.changeSeconds))") }
      if step.indexSeconds >= 0.1 { lines.append("    indexes: \(Self.seconds(step.indexSeconds))") }
    }
    lines.append("  verification: \(Self.seconds(forecast.proofSeconds)) after the last write")
    return lines
  }

  private static func seconds(_ seconds: Double) -> String {
    if seconds < 0.05 { return "under 0.1 s" }
    if seconds < 9.95 { return "\(Double(Int(seconds * 10 + 0.5)) / 10) s" }
    let whole = Int(min(1e9, seconds) + 0.5)
    return whole < 120 ? "\(whole) s" : whole < 7200 ? "\((whole + 30) / 60) min" : "\((whole + 1800) / 3600) h"
  }
}
