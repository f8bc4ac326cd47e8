import Foundation
import Testing

@testable import BatchCommand
@testable import MigrationJobs
@testable import RunSupport

@Suite("What became of a migration")
struct ReportTests {
  @Test(
    "A killed and resumed run: text, JSON and page say the same; a browser shows the pages at three widths, and asks for nothing"
  )
  func report() throws {
    let folder = try CommandFolder()
    let store = try folder.sample(rows: 6000)
    let none = try folder.run("godwit", ["report", store])
    #expect(none.code == 20 && none.error.contains("no migration to this path is known"), "\(none)")
    _ = try folder.interrupted(store)
    let page = folder.file("page.html")
    let killed = try folder.run("godwit", ["report", store, "--html", page, "--json"])
    let early = try document(killed.output)
    #expect(early["outcome"] as? String == "interrupted" && early["checkpoints"] as? Int ?? 0 >= 2, "\(killed)")
    let first = try String(contentsOfFile: page, encoding: .utf8)
    #expect(first.contains("The process was killed, or the machine went down, at ") && first.contains(" resume "))
    #expect(try folder.run("book-migration", ["resume", store]).code == 0)
    let json = try document(try folder.run("godwit", ["report", store, "--json", "--html", page]).output)
    #expect(json["outcome"] as? String == "done" && json["processes"] as? Int == 2 && json["format"] as? Int == 1)
    let text = try folder.run("godwit", ["report", store])
    #expect(text.code == 0 && text.output.hasPrefix("DONE: The store is at Library 3, verified."), "\(text)")
    for entity in try #require(json["entities"] as? [[String: Any]]) where entity["after"] != nil {
      let rows = try #require((entity["after"] as? [String: Any])?["rows"] as? Int)
      #expect(text.output.contains("\(entity["name"] ?? ""): ") && text.output.contains(Console.count(UInt64(rows))))
    }
    let second = try String(contentsOfFile: page, encoding: .utf8)
    for word in ["Library1_to_Library2", "Library 2", "Author", "1 interruption<", "A second decoder checked"] {
      #expect(second.contains(word), "\(word)")
    }
    #expect(try folder.run("godwit", ["report", store, "--html", store]).code == 64)
    let large = ReportPage.html(SampleReport.large)
    #expect(!large.contains("<script") && !large.contains("<img") && large.contains("&lt;script&gt;"))
    if let place = ProcessInfo.processInfo.environment["GODWIT_PAGES"] {
      for (name, text) in ["interrupted": first, "done": second, "large": large] {
        try text.write(toFile: "\(place)/\(name).html", atomically: false, encoding: .utf8)
      }
    }
    try Browser.expectSound(["interrupted": first, "done": second, "large": large])
  }

  @Test("Interruptions are told of a run that is too short for a curve, too")
  func shortRun() {
    var report = SampleReport.large
    report.curve = []
    let page = ReportPage.html(report)
    #expect(
      page.contains("too short for a curve") && page.contains("\(report.interruptions.count) interruptions<")
        && page.contains("the deadline 06:00"))
  }

  @Test("What a name holds moves no cursor, turns no text, and ends no element")
  func hostileNames() {
    let name = "<script>alert(1)</script>\"'&\u{1B}[2J\u{202E}x\u{0}\n"
    #expect(ReportWords.plain(name).unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
    #expect(HTML.escaped(name).hasPrefix("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"))
    let text = ReportText.text(SampleReport.large)
    #expect(!text.contains("\u{1B}") && text.contains("FAILED"))
  }
}

/// A report as large as any becomes, with names that nobody should trust.
enum SampleReport {
  static var large: RunReport {
    let hostile =
      "<script>alert('x')</script><img src=x onerror=alert(1)>\u{1B}[31m\"&" + String(repeating: "LongName", count: 20)
    var history = RunHistory()
    history.facts = RunHistory.Facts(
      run: "a", program: "godwit", source: "/data/\(hostile).sqlite", destination: "/data/\(hostile).sqlite",
      sourceVersion: "Shop 12", targetVersion: "Shop 92 \(hostile)",
      settings: [
        RunHistory.Setting(name: "models", value: hostile), RunHistory.Setting(name: "memory", value: "64 MiB"),
      ],
      memory: 64 << 20)
    let steps = (0..<6).map { index in
      RunHistory.Step(
        source: "Shop \(12 + index)", destination: index == 3 ? hostile : "Shop \(13 + index)",
        passed: index == 1 ? (0..<70).map { "Shop \($0)" } : [], isInferred: index < 2,
        reason: "the mapping model fits",
        mappings: [
          RunHistory.Step.Mapping(
            name: index == 3 ? hostile : "Shop\(12 + index)_to_Shop\(13 + index)",
            entityMappings: ["ItemToItem", "CustomerToCustomer", "Order", "Line", "AddressToAddress", "Tag", "Author"],
            count: 19,
            policies: ["ShopItemPolicy", "ShopOrderPolicy"])
        ])
    }
    let sizes = (0..<14).map { index in
      RunHistory.Size(
        entity: index == 3 ? hostile : "Entity\(index)", rows: 90_000_000 >> UInt64(index),
        bytes: 9_000_000_000 >> UInt64(index),
        isEstimate: index % 2 == 0)
    }
    history.origin = RunHistory.Origin(steps: steps, bytes: 18 << 30, entities: sizes)
    for process in 1...3 { addProcess(process, to: &history) }
    let error = BatchError(
      .policyFailed, "the policy refused the object \(hostile)", hint: "Mend the policy, then run godwit resume",
      entity: "Order",
      key: 7)
    history.ends = [
      RunHistory.End(BatchError(.stopped, "the migration stopped: the deadline 06:00"), process: 1, at: 1_750_001_200),
      RunHistory.End(error, process: 3, at: 1_750_013_000),
    ]
    var report = RunReport(outcome: .failed, destination: "/data/\(hostile).sqlite")
    report.take(history)
    report.takeEntities(history, read: ["Entity1": 45_000_000])
    report.reason = history.ends[1].reason
    report.advice = [error.hint ?? ""]
    report.rejects = RunReport.Rejects(
      count: 12_345, path: "/data/step-rejects.jsonl",
      first: (1...8).map {
        RunReport.Reject(step: 1, mapping: hostile, entity: "Order", key: Int64($0), reason: hostile)
      },
      replay:
        "godwit migrate /data/\(String(repeating: "deep/", count: 60))Store.sqlite --models '\(hostile)' --output /x")
    (report.notes, report.problems) = ([hostile], [hostile])
    return report
  }

  private static func addProcess(_ process: Int, to history: inout RunHistory) {
    let start = 1_750_000_000 + Double(process - 1) * 5000
    history.processes.append(RunHistory.Process(number: process, at: start, pid: 77, host: "host"))
    var rows = 0.0
    for index in 1...300 {
      // Some waves, a pause, and two kinds of work at the end.
      let isWaiting = process == 2 && (140..<170).contains(index)
      let isEnd = process == 3 && index > 200
      rows += isWaiting || isEnd ? 0 : 300_000 * (1.2 + sin(Double(index) / 17) * 0.5)
      history.samples.append(
        RunHistory.Sample(
          process: process, at: start + Double(index) * 4, rows: UInt64(rows),
          bytes: UInt64(rows * 70 + Double(isEnd ? index * 4_000_000 : 0)),
          memory: UInt64((38 + 16 * sin(Double(index) / 60)) * 1e6), checkpoints: UInt64(index * 4),
          done: (Double(process - 1) + Double(index) / 300) * 0.28, step: process,
          activity: !isEnd ? "Item" : index < 260 ? "index ZITEM_PRICE" : "verification: Item", paused: isWaiting))
    }
  }
}

/// A browser without a window; where there is none, what it would find is not looked for.
enum Browser {
  private static let widths = [360, 768, 1280]

  private static var path: String? {
    ["chromium", "chromium-browser", "google-chrome"].map { "/usr/bin/" + $0 }.first(
      where: FileManager.default.isExecutableFile)
  }

  /// Shows pages in frames of several widths, and looks at what became of them from outside: the pages have no script.
  static func expectSound(_ pages: [String: String], at location: SourceLocation = #_sourceLocation) throws {
    guard let path else {
      return print("skipped: there is no Chromium to show the pages with (apt-get install chromium)")
    }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("browser-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let frames = pages.sorted { $0.key < $1.key }.flatMap { page in
      widths.map { (page.key, $0, Data(page.value.utf8).base64EncodedString()) }
    }
    let list = frames.map { "[\"\($0)\",\($1),\"\($2)\"]" }.joined(separator: ",")
    let script = """
      const frames=[\(list)],found=[];for(const [name,width,text] of frames){const f=document.createElement('iframe');f.width=width;f.height=700;
      f.style.border='0';f.onload=()=>{const d=f.contentDocument,w=f.contentWindow;found.push([name,width,d.documentElement.scrollWidth,w.innerWidth,
      w.performance.getEntriesByType('resource').length,d.querySelectorAll('h2').length,d.scripts.length].join(' '));
      if(found.length==frames.length)document.body.textContent='FOUND '+found.sort().join(';')+' END'};
      f.srcdoc=new TextDecoder().decode(Uint8Array.from(atob(text),c=>c.charCodeAt(0)));document.body.append(f)}
      """
    let page = folder.appendingPathComponent("frames.html")
    try "<!DOCTYPE html><meta charset=utf-8><body><script>\(script)</script>".write(
      to: page, atomically: false, encoding: .utf8)
    let (code, output, errors) = try run(path, page, folder)
    // In a cell without room for it, for example.
    guard code == 0 || !output.isEmpty else { return print("skipped: Chromium does not start: \(errors.prefix(300))") }
    let found =
      output.components(separatedBy: "FOUND ").last?.components(separatedBy: " END").first?.split(separator: ";") ?? []
    #expect(found.count == frames.count, "\(output.suffix(2000)) \(errors.suffix(2000))", sourceLocation: location)
    for line in found {
      let fields = line.split(separator: " ").compactMap { Int($0) }
      try #require(fields.count == 6, "\(line)")
      #expect(
        fields[1] <= fields[0] && fields[2] == fields[0], "wider than its frame: \(line)", sourceLocation: location)
      #expect(
        fields[3] == 0 && fields[4] >= 4 && fields[5] == 0, "asks for something, or lacks sections: \(line)",
        sourceLocation: location)
    }
    #expect(!errors.contains("CONSOLE"), "\(errors)", sourceLocation: location)
  }

  private static func run(_ path: String, _ page: URL, _ folder: URL) throws -> (
    code: Int32, output: String, errors: String
  ) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--user-data-dir=\(folder.path)/profile",
      "--virtual-time-budget=5000",
      "--enable-logging=stderr", "--dump-dom", page.absoluteString,
    ]
    let files = ["output", "errors"].map { folder.appendingPathComponent($0) }
    for file in files { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    return (
      process.terminationStatus, try String(contentsOf: files[0], encoding: .utf8),
      String(decoding: try Data(contentsOf: files[1]), as: UTF8.self)
    )
  }
}
