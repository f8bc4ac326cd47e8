import Foundation
import Streams
import Testing

@testable import Fleets
@testable import Migrations
@testable import RunSupport

@Suite("Plans of fleets") struct FleetPlanTests {
  let folder: JobTestFolder
  let path: String

  init() throws {
    folder = try JobTestFolder()
    path = folder.file("fleet.json")
  }

  private func plan(_ loads: [UInt64], tasks: Int = 3) throws -> FleetPlan {
    let stores = loads.enumerated().map { place, bytes in
      var store = FleetPlan.Store(path: "/data/\"s \(place)\".sqlite", output: place % 2 == 0 ? "/out/\(place)" : nil)
      (store.bytes, store.rows) = (bytes, bytes / 7)
      return store
    }
    return try FleetPlan(stores, tasks: tasks, options: ["--models", "/m \"stores\":[]"], models: "abc")
  }

  @Test(
    "Loads are balanced, the longest first: tasks differ by no more than one of them, and the same list gives the same shards"
  )
  func balance() throws {
    #expect(FleetBalance.shards([7, 6, 5, 4, 3], tasks: 2) == [0, 1, 1, 0, 0])
    #expect(FleetBalance.shards([1, 1], tasks: 4) == [0, 1])
    var random = SplitMix(state: 4)
    for _ in 0..<50 {
      let tasks = random.next(9) + 1
      let loads = (0...random.next(200)).map { _ in UInt64(random.next(10_000) + 1) }
      let shards = FleetBalance.shards(loads, tasks: tasks)
      var sums = [UInt64](repeating: 0, count: tasks)
      for (load, shard) in zip(loads, shards) { sums[shard] += load }
      let mean = loads.reduce(0, +) / UInt64(tasks) + 1
      let longest = loads.max() ?? 0
      // What any list allows, and the shares that are far apart otherwise.
      #expect((sums.max() ?? 0) <= mean + longest && (sums.max() ?? 0) - (sums.min() ?? 0) <= longest)
      #expect(FleetBalance.shards(loads, tasks: tasks) == shards)
    }
  }

  @Test("A task's stores are the longest first, and each store is one task's")
  func shards() throws {
    let plan = try plan([5, 900, 40, 40, 7, 0, 300])
    let shards = (0..<3).map(plan.shard)
    #expect(shards.flatMap { $0 }.sorted() == Array(0..<7))
    #expect(shards.allSatisfy { $0.map { plan.stores[$0].bytes } == $0.map { plan.stores[$0].bytes }.sorted(by: >) })
  }

  @Test("A plan is read as it was written, and its id is that of its contents")
  func roundTrip() throws {
    let plan = try plan([1, 2, 3])
    try plan.text().write(toFile: path, atomically: true, encoding: .utf8)
    #expect(try FleetPlan(path: path) == plan)
    let (again, other) = (try self.plan([1, 2, 3]), try self.plan([1, 2, 4]))
    #expect(plan.id.count == 64 && plan.id == again.id && plan.id != other.id)
  }

  @Test(
    "A plan that was changed, cut off or made up is refused with its name, and never traps",
    arguments: [
      ("\"bytes\":2", "\"bytes\":4"), ("\"tasks\":3", "\"tasks\":4"), ("\"tasks\":3", "\"tasks\":-1"),
      ("\"shard\":0", "\"shard\":7"),
      ("/out/0", "/out/2"), ("\"format\":1", "\"format\":2"), ("{\"format\"", "[{\"format\""), ("abc", "abd"),
      ("\"bytes\":2", "\"bytes\":-2"), ("\"bytes\":2", "\"bytes\":99999999999999999999"),
    ])
  func damaged(old: String, new: String) throws {
    let text = try plan([1, 2, 3]).text()
    #expect(text.contains(old))
    try text.replacing(old, with: new, maxReplacements: 1).write(toFile: path, atomically: true, encoding: .utf8)
    let error = #expect(throws: BatchError.self) { try FleetPlan(path: path) }
    #expect(error?.code == .refused && error?.path == path && error?.effect == .nothingWritten)
  }

  @Test("What no plan can be is refused: no stores, no tasks, a store twice, paths that lead anywhere")
  func refused() throws {
    #expect(throws: BatchError.self) { try plan([]) }
    for tasks in [0, -3, FleetPlan.mostTasks + 1] { #expect(throws: BatchError.self) { try plan([1], tasks: tasks) } }
    for paths in [["/a", "/a"], ["a"], ["/a\0b"]] {
      #expect(throws: BatchError.self) {
        try FleetPlan(paths.map { FleetPlan.Store(path: $0) }, tasks: 1, options: [], models: "")
      }
    }
  }

  @Test(
    "A folder's stores are found by their contents; copies set aside, hidden files, links and other databases are left out"
  )
  func survey() throws {
    let models = ModelLibrary(bundles: [])
    let database = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 7, count: 2000)
    try LocalFileSystem().makeDirectory(folder.file("in"))
    try LocalFileSystem().makeDirectory(folder.file("fleet-1.state"))
    try LocalFileSystem().makeDirectory(folder.file(".a.sqlite.godwit"))
    for name in [
      "a.sqlite", "in/b", "a.sqlite.backup-20250131T120000Z", ".c", "fleet-1.state/d", ".a.sqlite.godwit/step-1.sqlite",
    ] {
      try LocalFileSystem().writeAndSync(database, to: folder.file(name))
    }
    try LocalFileSystem().writeAndSync(Array(repeating: 65, count: 2000), to: folder.file("text"))
    #expect(
      symlink(folder.file("a.sqlite"), folder.file("link")) == 0 && symlink(folder.path, folder.file("in/loop")) == 0)
    let survey = FleetSurvey(models: models)
    let found = try survey.stores(in: folder.path)
    #expect(found == ["a.sqlite", "in/b"].map { FleetPlan.Store(path: folder.file($0)) })
    let looked = survey.look(found[0])
    #expect(looked.problem?.contains(found[0].path) == true && looked.problemCode == 30 && looked.bytes == 0)
  }
}
