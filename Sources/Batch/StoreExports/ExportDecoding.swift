/// What an export may take bytes for, beside showing them in base64.
public enum ExportDecoding: String, Sendable, CaseIterable {
  /// A property list, binary or XML: `{"plist":…}`.
  case plist
  /// An archive of NSKeyedArchiver, as transformable attributes mostly are: `{"keyedArchive":…}`.
  case keyedArchiver = "keyedarchiver"
  /// Sixteen bytes: the text of a UUID. Only a guess where no model says so.
  case uuid
}
