/// What a fetch gives for each object.
public enum NSFetchRequestResultType: Sendable {
  /// The object.
  case managedObjectResultType
  /// What it is known by.
  case managedObjectIDResultType
  /// A dictionary of its values.
  case dictionaryResultType
  /// One number: how many there are.
  case countResultType
}
