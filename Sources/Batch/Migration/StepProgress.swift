// What a step shows of its progress.
extension StepRunner {
  /// A unit begins.
  func show(_ unit: StepUnit) {
    guard case .rows(let table, let mappings) = unit else { return show(describe(unit)) }
    let used = mappings.map { plan.mappings[$0].mapping }
    let models = plan.step.mappingModels.filter { model in used.contains { model.entityMappings.contains($0) } }
    let name = plan.binding.tables[table].schema.name
    let objects = objectsRead(unit)
    job.monitor.update { progress in
      progress.activity = used.map(\.name).joined(separator: ", ")
      progress.mappingModels = models.map(\.name)
      progress.entities = Set(used.compactMap(\.sourceEntity)).sorted()
      (progress.objects, progress.objectsInAll) = (objects, plan.passed == nil ? job.sourceRows[name] : nil)
    }
  }

  /// Something begins that is not about the objects of an entity.
  func show(_ activity: String) {
    job.monitor.update { $0.begin(activity) }
  }

  /// A resumed run begins where another one stopped.
  func showResumed() {
    guard job.monitor.progress.fraction == 0 else { return }
    let done = 0.9 * min(1, Double(pagesDone) / Double(pagesTotal))
    job.monitor.update { progress in
      progress.fraction = progress.fraction(inStep: transformer.state.phase == .units ? done : 0.9)
      progress.fractionBefore = progress.fraction
    }
  }

  /// Objects of a unit's entities that were read; 0 for units of another kind.
  func objectsRead(_ unit: StepUnit) -> UInt64 {
    guard case .rows(_, let mappings) = unit else { return 0 }
    // Several mappings of an entity read the same objects.
    var read: [Int: UInt64] = [:]
    for index in mappings {
      let number = plan.mappings[index].source.number
      read[number] = max(read[number] ?? 0, transformer.state.counts[index].read)
    }
    return read.values.reduce(0, +)
  }

  private func describe(_ unit: StepUnit) -> String {
    switch unit {
    case .carried(let index): plan.carried.tables[index].row.name
    case .links(let link): "links of \(link.name)"
    case .relationships(_, let mapping): "relationships of \(plan.mappings[mapping].mapping.name)"
    default: ""
    }
  }
}
