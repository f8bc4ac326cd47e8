import Testing

/// A model of the files, two processes, the application and a person, that asks the real `RunLife` what each command
/// may do. All orders of steps are gone through, no sample of them.
///
/// Left out: a write-ahead log, values outside of the store, take-overs, an output elsewhere, plans and journals that
/// cannot be read.
@Suite("The life of a run, in every order") struct LifeModelTests {
  /// A store; one that was migrated; and one that is missing, whose backup is there.
  private func starts(commands: UInt8 = 2, kills: UInt8 = 1, writes: UInt8 = 1, deeds: UInt8 = 1) -> [ModelWorld] {
    let old = ModelFile(number: 1, version: 1, rows: ModelFile.first)
    let new = ModelFile(number: 2, version: 2, rows: ModelFile.first)
    let backup = ModelBackup(name: 1, file: old, receipt: new)
    return [
      ModelWorld(store: old), ModelWorld(store: new, backups: [backup]), ModelWorld(store: nil, backups: [backup]),
    ].map {
      var start = $0
      (start.commands, start.kills, start.writes, start.deeds) = (commands, kills, writes, deeds)
      return start
    }
  }

  @Test(
    "Two runs, an application and a person, in every order: nothing is lost, nothing is claimed falsely, a command leads on"
  )
  func promises() {
    var explorer = ModelExplorer(ModelGuards())
    explorer.explore(starts())
    #expect(explorer.finding == nil, "\(explorer.finding?.text ?? "")")
    #expect(explorer.count > 100_000)
  }

  @Test("One run, and a person who does two things by hand meanwhile: the same")
  func alone() {
    var explorer = ModelExplorer(ModelGuards())
    explorer.explore(starts(commands: 1, kills: 2, writes: 2, deeds: 2))
    #expect(explorer.finding == nil, "\(explorer.finding?.text ?? "")")
    #expect(explorer.count > 1000)
  }

  @Test("Without any one of the guards its promise is seen to be broken", arguments: ModelGuard.allCases)
  func guards(_ missing: ModelGuard) {
    var explorer = ModelExplorer(ModelGuards(missing: missing))
    explorer.explore(starts())
    #expect(explorer.finding?.promise == missing.promise, "\(explorer.finding?.text ?? "nothing is found")")
  }
}
