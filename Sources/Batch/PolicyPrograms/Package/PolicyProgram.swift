import Applications
import Codecs
import CoreDataModel
import RunSupport

/// The policies of an application, ready to be compiled into a program of their own.
public struct PolicyProgram: Sendable {
  /// A policy that the program will have.
  public struct Policy: Sendable, Equatable, Encodable {
    /// The name in mapping models, without a module.
    public let name: String
    /// File and line of the class.
    public let source: String
    /// Selectors that mapping models can call.
    public let functions: [String]
  }

  /// A file or a policy that the program will not have.
  public struct Omission: Sendable, Equatable, Encodable {
    /// File and line.
    public let source: String
    /// Why.
    public let reason: String
  }

  let files: [PolicyFile]
  /// The policies, by name.
  public let policies: [Policy]
  /// What is left out.
  public let omissions: [Omission]

  /// Reads sources: files, and folders of them. Of folders those files are taken that have policies; what cannot be
  /// compiled here is left out, with the reason. A file that is named must be one that can.
  ///
  /// - Throws: ``BatchError`` (`noSuchFile`, `refused`).
  public init(sources: [String]) throws {
    let found = try Self.read(sources)
    let index = PolicyIndex(found.map(\.file))
    var (files, omissions) = ([PolicyFile](), [Omission]())
    for (file, isNamed) in found {
      let has = index.hasPolicies(file)
      guard has || isNamed else { continue }
      guard let foreign = file.foreignImport else {
        files.append(file)
        continue
      }
      let omission = Omission(
        source: "\(file.path):\(foreign.line)", reason: "imports \(foreign.module), which is not here")
      omissions.append(omission)
    }
    let objectiveC = try PolicySource.find(below: sources).filter { !$0.path.hasSuffix(".swift") }
    omissions += objectiveC.map {
      Omission(
        source: "\($0.path):\($0.line)", reason: "\($0.name) is written in Objective-C, which is not compiled here")
    }
    (self.files, self.omissions) = (files, omissions)
    policies = PolicyIndex(files, beside: found.map(\.file)).policies.map {
      Policy(
        name: $0.policy.exposedName, source: "\($0.file.path):\($0.policy.line)", functions: $0.methods.map(\.selector))
    }
    .sorted { $0.name < $1.name }
    try refuseNothing(sources)
  }

  private func refuseNothing(_ sources: [String]) throws {
    guard policies.isEmpty else { return }
    let reasons = omissions.map { "\n  \($0.source): \($0.reason)" }.joined()
    throw BatchError(
      .refused,
      omissions.isEmpty
        ? "there is no class that inherits from NSEntityMigrationPolicy" : "no policy can be compiled here:\(reasons)",
      hint: omissions.isEmpty
        ? "Name the files of the policies, or a folder of them"
        : "Take what needs those modules out of the policies, or say the same by rules: docs/manual/mapping-files.md",
      effect: .nothingWritten, path: sources.count == 1 ? sources[0] : nil)
  }

  private static func read(_ sources: [String]) throws -> [(file: PolicyFile, isNamed: Bool)] {
    var (seen, found) = (Set<String>(), [(PolicyFile, Bool)]())
    for source in sources {
      try PackageFolders.refuseMissing(source)
      let isFolder = PackageFolders.isFolder(source)
      for path in try PolicySource.swiftFiles(below: source) where seen.insert(path).inserted {
        guard !isFolder || PolicySource.mayHavePolicies(path) else { continue }
        found.append((try PolicyParser.read(path), !isFolder))
      }
    }
    return found
  }

  /// A text that changes with the sources.
  var version: String {
    var digest = SHA256()
    for file in files { digest.update(file.bytes) }
    return digest.finalize().prefix(8).map { (0x100 + Int($0)).hex }.joined()
  }
}

extension Int {
  fileprivate var hex: String { String(String(self, radix: 16).dropFirst()) }
}
