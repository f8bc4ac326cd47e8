import Foundation
import Testing
import Yams

@testable import SwiftDataModels

private let hasGit = (try? GitCommand.run(["--version"], input: ""))?.code == 0

@Suite(
  "The hook and the workflow of the manual",
  .enabled(if: SourceParser.isThere && hasGit, "built without SwiftData, or no git"))
struct LockAutomationTests {
  private static let documents = ExampleFolder.root + "/docs/manual/ci"
  private static let edited = SchemaSources.first.replacing("rating: Int", with: "rating: Int?")

  private let folder: CommandFolder
  private let sources: SchemaSources

  /// A repository with sources and their lock.
  init() throws {
    folder = try CommandFolder(readsSwift: true)
    sources = try SchemaSources(folder.file("App/Models"), [SchemaSources.first, SchemaSources.second])
    let made = try shell(
      """
      mkdir tools && ln -s "$0" tools/godwit && printf '/tools\\n' > .gitignore
      git init -q . && git config user.name n && git config user.email e && git config commit.gpgsign false
      tools/godwit lock App/Models
      """)
    try #require(made.code == 0, "\(made)")
  }

  /// Runs a script in the repository; `$0` is the command.
  private func shell(_ script: String) throws -> CommandProcess.Outcome {
    let begin = "set -e; cd '\(folder.path)'; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; "
    return try folder.run("godwit", [], launcher: ["/bin/bash", "-c", begin + script])
  }

  @Test("The hook refuses a commit in which a locked version changed, whatever the files are; others pass")
  func hook() throws {
    let commit = "export PATH=\"$PWD/tools:$PATH\"; git commit -qm change"
    let unset = try shell("cp '\(Self.documents)/pre-commit' .git/hooks/; git add -A; \(commit)")
    #expect(unset.code != 0 && unset.error.contains("git config godwit.models App/Models"), "\(unset)")
    let first = try shell("git config godwit.models App/Models; git add -A; \(commit)")
    #expect(first.code == 0, "\(first)")
    try sources.write([Self.edited, SchemaSources.second])
    // What is staged counts: the file on the disk is as it was.
    let staged = try shell("git add -A; git show HEAD:App/Models/Schema.swift > App/Models/Schema.swift; \(commit)")
    #expect(staged.code != 0 && (staged.output + staged.error).contains("Book.rating became optional"), "\(staged)")
    #expect(try shell("git rev-list --count HEAD").output == "1\n")
    // Others pass: a new version, and files beside the models.
    try sources.write([SchemaSources.first, SchemaSources.second, Self.edited])
    let passed = try shell("echo a > Notes; git add -A; \(commit)")
    #expect(passed.code == 0 && (passed.output + passed.error).contains("version 3.0.0 is not locked yet"), "\(passed)")
    #expect(try shell("git rev-list --count HEAD").output == "2\n")
  }

  private struct Workflow: Decodable {
    struct Step: Decodable {
      var name: String?
      var uses: String?
      var run: String?
    }
    struct Job: Decodable { var steps: [Step] }

    var env: [String: String]
    var jobs: [String: Job]
  }

  /// The commands of the workflow in their order, each run as GitHub runs it; exit codes and outputs by name.
  private func runWorkflow() throws -> [String: CommandProcess.Outcome] {
    let text = try String(contentsOfFile: Self.documents + "/schema-lock.yml", encoding: .utf8)
    let workflow = try YAMLDecoder().decode(Workflow.self, from: text)
    let environment = workflow.env.map { "export \($0.key)='\($0.value)'; " }.joined()
    var done: [String: CommandProcess.Outcome] = [:]
    try? FileManager.default.removeItem(atPath: folder.file(".git/path"))
    for step in workflow.jobs["check"]?.steps ?? [] {
      guard let name = step.name, let run = step.run else { continue }
      let path =
        "export GITHUB_PATH=\"$PWD/.git/path\"; touch .git/path; export PATH=\"$(tr '\\n' : < .git/path)$PATH\"; "
      done[name] = try shell(environment + path + "bash -e -c '\(run)'")
    }
    return done
  }

  @Test("The workflow's commands pass while the versions are kept, and mark the line of an edit")
  func workflow() throws {
    let kept = try runWorkflow()
    #expect(kept.count == 3 && kept.values.allSatisfy { $0.code == 0 }, "\(kept)")
    try sources.write([Self.edited, SchemaSources.second])
    let changed = try runWorkflow()
    let check = try #require(changed["Check the versions"])
    #expect(check.code == 4 && check.output.hasPrefix("::error file=App/Models/Schema.swift,line=6,title="), "\(check)")
    #expect(changed["Write the findings for code scanning"]?.code == 0)
    let log = try String(contentsOfFile: folder.file("schema-lock.sarif"), encoding: .utf8)
    #expect(log.contains("\"uri\" : \"App/Models/Schema.swift\"") && log.contains("\"startLine\" : 6"))
  }
}
