import Batch
import Foundation

/// A check as tools for code scanning read it: SARIF 2.1.0.
struct SARIFLog: Encodable {
  struct Text: Encodable { let text: String }

  struct Rule: Encodable {
    let id: String
    let shortDescription: Text
    let fullDescription: Text
    let help: Text

    init(_ rule: LockFinding.Rule) {
      (id, shortDescription, fullDescription) = (rule.rawValue, Text(text: rule.meaning), Text(text: rule.meaning))
      help = Text(text: "Each finding says what to do.")
    }
  }

  struct Driver: Encodable {
    let name = Program.name
    let version = Program.version
    let rules = LockFinding.Rule.allCases.map(Rule.init)
  }

  struct Tool: Encodable { let driver = Driver() }

  struct Artifact: Encodable { let uri: String }

  struct Region: Encodable { let startLine: Int }

  struct Physical: Encodable {
    let artifactLocation: Artifact
    let region: Region
  }

  struct Location: Encodable { let physicalLocation: Physical }

  struct Result: Encodable {
    let ruleId: String
    let level: String
    let message: Text
    let locations: [Location]
  }

  struct Run: Encodable {
    let tool = Tool()
    let results: [Result]
  }

  private enum Key: String, CodingKey {
    case schema = "$schema"
    case version, runs
  }

  private let runs: [Run]

  init(_ report: LockReport) { runs = [Run(results: report.findings.map { Self.result($0, lock: report.lock) })] }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode("https://json.schemastore.org/sarif-2.1.0.json", forKey: .schema)
    try container.encode("2.1.0", forKey: .version)
    try container.encode(runs, forKey: .runs)
  }

  /// GitHub takes no file in which a result has no place: what no source says is said of the lock.
  private static func result(_ finding: LockFinding, lock: String) -> Result {
    let text = [finding.message, finding.advice].compactMap(\.self).joined(separator: ". ")
    let place = Physical(
      artifactLocation: Artifact(uri: uri(finding.file ?? lock)),
      region: Region(startLine: finding.file == nil ? 1 : finding.line ?? 1))
    return Result(
      ruleId: finding.rule.rawValue, level: finding.level.rawValue, message: Text(text: text),
      locations: [Location(physicalLocation: place)])
  }

  /// From the current folder, which is that of the repository, if the file is in it.
  private static func uri(_ path: String) -> String {
    let url = URL(fileURLWithPath: path).standardizedFileURL
    let folder = URL(fileURLWithPath: FileManager.default.currentDirectoryPath).standardizedFileURL.path + "/"
    guard url.path.hasPrefix(folder) else { return url.absoluteString }
    let relative = String(url.path.dropFirst(folder.count))
    return relative.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? relative
  }
}
