// Objects that several entity mappings of a step are given.
extension StepAccount {
  /// ``objects``, where each source object counts once: one that another mapping takes is not left out.
  var sources: [Objects] {
    guard passes == nil, let lines = versions.last?.lines else { return objects }
    var sources: [Objects] = []
    for mapped in objects {
      guard let first = sources.firstIndex(where: { $0.source == mapped.source }) else {
        sources.append(mapped)
        continue
      }
      sources[first].written &+= mapped.written
      sources[first].rejected &+= mapped.rejected
      sources[first].removed = nil
      sources[first].leftOut = lines.first { $0.kind == .entity && $0.entity == mapped.source }?.leftOut ?? 0
      if let rule = mapped.rule, sources[first].rule != rule {
        sources[first].rule = sources[first].rule.map { "\($0) and \(rule)" } ?? rule
      }
    }
    return sources
  }
}
