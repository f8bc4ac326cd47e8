/// Protocols of other modules that models and enumerations name, so that they are not taken for classes or raw types.
enum KnownProtocols {
  private static let names: Set<String> = [
    // Swift.
    "AdditiveArithmetic", "AnyObject", "BitwiseCopyable", "CVarArg", "CaseIterable", "Codable", "CodingKey",
    "CodingKeyRepresentable", "Collection", "Comparable", "Copyable", "CustomDebugStringConvertible",
    "CustomReflectable",
    "CustomStringConvertible", "Decodable", "Encodable", "Equatable", "Error", "Escapable", "ExpressibleByArrayLiteral",
    "ExpressibleByIntegerLiteral", "ExpressibleByStringLiteral", "Hashable", "Identifiable", "IteratorProtocol",
    "LosslessStringConvertible", "OptionSet", "RawRepresentable", "Sendable", "SendableMetatype", "Sequence",
    "SetAlgebra",
    "Strideable", "TextOutputStreamable",
    // Foundation, Combine, Observation, SwiftData.
    "CustomNSError", "LocalizedError", "NSCoding", "NSCopying", "NSItemProviderReading", "NSItemProviderWriting",
    "NSMutableCopying", "NSObjectProtocol", "NSSecureCoding", "Observable", "ObservableObject", "PersistentModel",
    // Frameworks of applications.
    "AppEntity", "AppEnum", "Animatable", "IndexedEntity", "MKAnnotation", "Transferable", "TransientAppEntity",
    "UIActivityItemSource", "View",
  ]
  private static let modules: Set<String> = [
    "AppIntents", "Combine", "CoreTransferable", "Foundation", "MapKit", "Observation", "Swift", "SwiftData", "SwiftUI",
    "UIKit",
  ]

  /// Whether a name is that of such a protocol, also after its module.
  static func contains(_ path: [String]) -> Bool {
    guard let name = path.last, names.contains(name) else { return false }
    return path.count == 1 || path.count == 2 && modules.contains(path[0])
  }
}
