import Foundation
import RunSupport
import Streams
import SwiftDataModels

/// Compiles the policies of an application into a program that has all commands of this one, and the policies.
public struct PolicyBuild: Sendable {
  /// What is compiled.
  public let program: PolicyProgram
  /// The sources of Godwit.
  private let checkout: String
  /// Where what was compiled is kept for the next time.
  private let folder: String
  /// Whether it is compiled quickly, and runs slowly.
  private let isDebug: Bool

  /// The sources that this program was compiled from.
  public static let ownCheckout = URL(fileURLWithPath: #filePath).pathComponents.dropLast(5).joined(separator: "/")
    .replacing("//", with: "/")

  /// The words before `policies build` that call a program which reads Swift: this one, or one that is compiled with
  /// swift-syntax.
  package static var builder: [String] {
    SourceParser.isThere
      ? [ProgramName.current] : ["swift", "run", "-c", "release", "--package-path", ownCheckout, "godwit"]
  }

  /// Prepares a build. Without `checkout` the sources are taken that this program was compiled from; without `folder`
  /// what was compiled is kept in the user's folder for such things.
  ///
  /// - Throws: ``BatchError`` (`refused`) where the sources are not there.
  public init(_ program: PolicyProgram, checkout: String?, folder: String?, isDebug: Bool) throws {
    let sources = URL(fileURLWithPath: checkout ?? Self.ownCheckout).standardizedFileURL.path
    guard FileManager.default.fileExists(atPath: sources + "/Package.swift"),
      FileManager.default.fileExists(atPath: sources + "/Sources/CoreData")
    else {
      throw BatchError(
        .refused, "the sources of Godwit, which policies are compiled against, are not here",
        hint: "Name a checkout of them with --package", effect: .nothingWritten, path: sources)
    }
    let environment = ProcessInfo.processInfo.environment
    let cache = environment["XDG_CACHE_HOME"] ?? (environment["HOME"] ?? NSTemporaryDirectory()) + "/.cache"
    (self.program, self.checkout, self.isDebug) = (program, sources, isDebug)
    self.folder = URL(fileURLWithPath: folder ?? cache + "/godwit/policies").standardizedFileURL.path
  }

  /// Compiles, and gives the program its name. Returns seconds.
  ///
  /// - Throws: ``BatchError`` (`refused`) with what the compiler says, by the files of the application.
  public func run(to output: String) throws -> Double {
    let begin = ContinuousClock.now
    let lock = try waitForFolder()
    defer { lock.close() }
    try PolicyPackage(program: program, checkout: checkout).write(to: folder)
    let mode = isDebug ? "debug" : "release"
    let said = try Self.swift(
      ["build", "-c", mode, "--package-path", folder, "--product", PolicyPackage.product])
    guard said.code == 0 else { throw failure(said) }
    let made = "\(folder)/.build/\(mode)/\(PolicyPackage.product)"
    do {
      let files = FileManager.default
      try? files.removeItem(atPath: output + ".new")
      try files.copyItem(atPath: made, toPath: output + ".new")
      try LocalFileSystem().rename(output + ".new", to: output)
    } catch {
      throw BatchError(
        .failed, "the program cannot be written", hint: "Check the folder of --output", path: output, cause: error)
    }
    return (ContinuousClock.now - begin) / .seconds(1)
  }

  /// Takes the folder, which one build at a time uses.
  private func waitForFolder() throws -> any File {
    let files = FileManager.default
    do {
      try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let lock = try LocalFileSystem().open(folder + "/lock", .updateOrCreate)
      while try !lock.lock(.exclusive, start: 0, length: 1) { Thread.sleep(forTimeInterval: 0.2) }
      return lock
    } catch {
      throw BatchError(
        .failed, "the folder for what is compiled cannot be used", hint: "Name another one with --build-folder",
        path: folder, cause: error)
    }
  }

  private func failure(_ said: (code: Int32, text: String)) -> BatchError {
    guard said.code != 127 else {
      return BatchError(
        .refused, "there is no swift here, which compiles the policies", hint: "Install Swift 6.3 or later",
        effect: .nothingWritten)
    }
    var seen: Set<String> = []
    let errors = said.text.split(separator: "\n").filter { $0.contains("error:") && !$0.hasPrefix(" ") }
      .filter { seen.insert(String($0)).inserted }
    let shown = (errors.isEmpty ? said.text.split(separator: "\n").suffix(10) : errors.prefix(20)[...]).map {
      "\n  \($0)"
    }
    return BatchError(
      .refused, "the policies do not compile:\(shown.joined())",
      hint: "Name the files that they need, too; take out what needs modules of Apple's systems",
      effect: .nothingWritten)
  }

  /// Runs swift, and gives what it says.
  private static func swift(_ arguments: [String]) throws -> (code: Int32, text: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["swift"] + arguments
    let output = Pipe()
    (process.standardOutput, process.standardError) = (output, output)
    process.standardInput = FileHandle.nullDevice
    do { try process.run() } catch { return (127, "\(error)") }
    let data = try CalledPrograms.interrupting(process.processIdentifier) {
      let data = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return data
    }
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }
}
