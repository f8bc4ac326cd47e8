import CoreDataModel

/// What `@Attribute(…)` says.
struct AttributeOptions {
  private(set) var isUnique = false
  private var isEphemeral = false
  private var isExternal = false
  private var isPreserved = false
  private var isEncrypted = false
  private var isInSpotlight = false
  private var transformer: String?
  private var originalName: String?
  private var modifier: String?

  init(_ property: SourceProperty, _ context: TypeResolver.Context) throws {
    for use in property.uses where use.name == "Attribute" {
      for argument in use.arguments { try read(argument, context) }
    }
  }

  /// The transformer of a transformable attribute, whose type may be any.
  static func transformer(_ property: SourceProperty, _ context: TypeResolver.Context) throws -> String? {
    try AttributeOptions(property, context).transformer
  }

  private mutating func read(_ argument: SourceArgument, _ context: TypeResolver.Context) throws {
    switch (argument.label, argument.value) {
    case ("originalName", .text(let name)): originalName = name
    case ("hashModifier", .text(let text)): modifier = text
    case ("originalName", .none), ("hashModifier", .none): break
    case (nil, .member(_, let option)): try read(option, context)
    case (nil, .call(.member(_, "transformable"), let arguments)):
      guard arguments.count == 1, let name = Self.transformer(arguments[0].value) else {
        throw context.error("has a transformer that cannot be read")
      }
      transformer = name
    default: throw context.error("has an option of @Attribute that is not known")
    }
  }

  private mutating func read(_ option: String, _ context: TypeResolver.Context) throws {
    switch option {
    case "unique": isUnique = true
    case "ephemeral": isEphemeral = true
    case "externalStorage": isExternal = true
    case "preserveValueOnDeletion": isPreserved = true
    case "allowsCloudEncryption": isEncrypted = true
    case "spotlight": isInSpotlight = true
    default: throw context.error("has the option .\(option) of @Attribute, which is not known")
    }
  }

  private static func transformer(_ value: SourceExpression) -> String? {
    if case .text(let name) = value { return name }
    return value.metatype?.last
  }

  func apply(to attribute: inout AttributeDescription) {
    attribute.isTransient = isEphemeral
    attribute.allowsExternalBinaryDataStorage = isExternal
    attribute.preservesValueInHistoryOnDeletion = isPreserved
    attribute.allowsCloudEncryption = isEncrypted
    attribute.isIndexedBySpotlight = isInSpotlight
    if let transformer { attribute.valueTransformerName = transformer }
    attribute.renamingIdentifier = originalName
    attribute.versionHashModifier = modifier
  }
}
