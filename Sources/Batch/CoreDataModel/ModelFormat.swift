import Foundation
import Synchronization

/// Models in a form that is not Xcode's. A program registers one, and every path of a model may be of it.
public protocol ModelFormat: Sendable {
  /// Whether the path names a model of this form.
  func reads(_ path: String) -> Bool

  /// What the models at the paths depend on, as a text: if it is the same as before, they are, too.
  ///
  /// - Throws: ``BatchError`` as ``read(_:)`` does.
  func mark(of paths: [String]) throws -> String

  /// The models at the paths, each of which ``reads(_:)`` knows.
  ///
  /// - Throws: ``BatchError`` (`badModel`, `noSuchFile`) when one cannot be read.
  func read(_ paths: [String]) throws -> [ModelBundle]

  /// Where the sources at the paths declare what is in their models; empty if the form has no lines.
  ///
  /// - Throws: ``BatchError`` as ``read(_:)`` does.
  func places(of paths: [String]) throws -> ModelPlaces
}

extension ModelFormat {
  /// Nothing is known.
  ///
  /// - Throws: Nothing.
  public func places(of paths: [String]) throws -> ModelPlaces { ModelPlaces() }
}

/// The form of models that this process knows besides Xcode's.
public enum ModelFormats {
  private static let registered = Mutex<(any ModelFormat)?>(nil)

  /// Makes a form known, instead of an earlier one.
  public static func register(_ format: any ModelFormat) { registered.withLock { $0 = format } }

  /// The form that reads a path; nil if it is for Xcode's reader.
  package static func format(of path: String) -> (any ModelFormat)? {
    guard let format = registered.withLock({ $0 }), format.reads(path) else { return nil }
    return format
  }
}

extension ModelReader {
  /// Reads the models at several paths, in their order. Those of the registered form are read together, at the place of
  /// the first of them: sources may need one another.
  ///
  /// - Throws: ``BatchError`` with the code `badModel` when a model cannot be read or none is found.
  public static func read(paths: [String]) throws -> [ModelBundle] {
    try sources(paths).flatMap { try $0.flatMap { try $0.bundles() } }
  }

  /// What ``read(paths:)`` reads at each path: nothing where it was read with a path before.
  package static func sources(_ paths: [String]) throws -> [[ModelSource]] {
    let others = paths.filter { ModelFormats.format(of: $0) != nil }
    return try paths.map { path in
      guard let format = ModelFormats.format(of: path) else {
        return try documents(below: path).map(ModelSource.document)
      }
      return path == others.first ? [.others(others, format)] : []
    }
  }
}
