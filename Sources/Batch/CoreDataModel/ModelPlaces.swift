import Foundation

/// Where sources declare the versions of a model, and what is in them.
public struct ModelPlaces: Sendable, Equatable {
  /// A line of a file.
  public struct Place: Sendable, Equatable {
    /// The file, as the path of the sources leads to it.
    public var file: String
    /// The line, from 1.
    public var line: Int

    /// Makes a place.
    public init(file: String, line: Int) { (self.file, self.line) = (file, line) }
  }

  /// One version.
  public struct Version: Sendable, Equatable {
    /// The type of Swift that declares it, if one does.
    public var type: String?
    /// Where it is declared.
    public var place: Place?
    /// Where its entities and properties are declared, by their names: `Book`, `Book.title`.
    public var parts: [String: Place] = [:]

    /// Makes a version.
    public init(type: String? = nil, place: Place? = nil) { (self.type, self.place) = (type, place) }
  }

  /// By the names of the versions.
  public var versions: [String: Version] = [:]

  /// Makes an empty list.
  public init() {}

  /// The place of a property, or else of the entity, or else of the version; nil if none is known.
  public func place(_ version: String, entity: String? = nil, property: String? = nil) -> Place? {
    guard let version = versions[version] else { return nil }
    let names = [property.flatMap { name in entity.map { "\($0).\(name)" } }, entity]
    return names.compactMap(\.self).lazy.compactMap { version.parts[$0] }.first ?? version.place
  }
}

extension ModelReader {
  /// Where the sources at the paths declare what is in their models: empty for what cannot be read, and for compiled
  /// models.
  public static func places(paths: [String]) -> ModelPlaces {
    var places = ModelPlaces()
    for source in (try? sources(paths))?.flatMap(\.self) ?? [] {
      switch source {
      case .document(let path): places.addPackages(path)
      case .others(let paths, let format):
        places.versions.merge(((try? format.places(of: paths)) ?? ModelPlaces()).versions) { first, _ in first }
      }
    }
    return places
  }
}

extension ModelPlaces {
  /// Adds the versions of a folder of Xcode's, which writes each element on a line of its own.
  fileprivate mutating func addPackages(_ path: String) {
    let isVersion = (path as NSString).pathExtension == "xcdatamodel"
    let folders = isVersion ? [path] : (try? PackageFolders.folders(in: path, code: .badModel)) ?? []
    for folder in folders where (folder as NSString).pathExtension == "xcdatamodel" {
      let file = folder + "/contents"
      var version = Version(place: Place(file: file, line: 1))
      version.addElements(of: file)
      versions[PackageFolders.stem(folder)] = version
    }
  }
}

extension ModelPlaces.Version {
  fileprivate mutating func addElements(of file: String) {
    guard let handle = FileHandle(forReadingAtPath: file), let data = try? handle.read(upToCount: 16 << 20) else {
      return
    }
    var entity: String?
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let words = line.drop { $0 == " " || $0 == "\t" }
      let place = ModelPlaces.Place(file: file, line: index + 1)
      guard let name = Self.name(words) else { continue }
      if words.hasPrefix("<entity ") {
        entity = name
        parts[name] = place
      } else if let entity, words.hasPrefix("<attribute ") || words.hasPrefix("<relationship ") {
        parts["\(entity).\(name)"] = place
      }
    }
  }

  /// What `name="…"` says in an element.
  private static func name(_ element: Substring) -> String? {
    guard element.hasPrefix("<"), let start = element.range(of: " name=\"")?.upperBound,
      let end = element[start...].firstIndex(of: "\"")
    else { return nil }
    return String(element[start..<end])
  }
}
