extension StepObjects {
  /// Takes down the objects that the call at work has made.
  func watch() {
    objects.forEach { watched?.append($0.watched) }
  }
}

extension DestinationObject {
  fileprivate var watched: WatchedObject {
    WatchedObject(entity: entity.name, key: key, isOwn: mapping != nil, columns: setColumns)
  }
}
