import Foundation
import RunSupport
import Streams

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// What a reader does with the elements of an XML file. An error thrown ends the reading; the line is added to it.
package protocol XMLEvents: AnyObject {
  func start(_ element: String, _ attributes: [String: String]) throws
  func text(_ characters: String)
  func end(_ element: String) throws
}

/// Reads files of Xcode's models. They come from anywhere, so size and depth are limited and entities refused.
package enum XMLFile {
  static let largestSize = 64 << 20
  static let greatestDepth = 64

  /// Reads the whole file; refuses what is no regular file (a pipe would block) and what is larger than the limit.
  package static func contents(of path: String, code: BatchError.Code) throws -> Data {
    let disk = LocalFileSystem()
    guard let status = try? disk.status(path), status.isRegularFile else {
      throw BatchError(code, "there is no file that can be read", path: path)
    }
    do {
      return Data(try disk.readAll(path, cap: largestSize))
    } catch let error as StreamsError where error.code == .tooLarge {
      throw BatchError(code, "the file is larger than \(largestSize >> 20) MiB", path: path)
    } catch {
      throw BatchError(code, "the file cannot be read", path: path, cause: error)
    }
  }

  /// Parses the file and hands its elements to `events`.
  package static func parse(_ path: String, code: BatchError.Code, into events: any XMLEvents) throws {
    try parse(contents(of: path, code: code), path: path, code: code, into: events)
  }

  /// Parses a file's bytes; `path` is for messages.
  package static func parse(_ data: Data, path: String, code: BatchError.Code, into events: any XMLEvents) throws {
    if let (position, problem) = XMLEncoding.problem(of: data) {
      let line = data[..<position].count { $0 == UInt8(ascii: "\n") } + 1
      throw BatchError(code, "\(problem) (line \(line))", hint: "Save the file again in Xcode", path: path)
    }
    let adapter = Adapter(events)
    let parser = XMLParser(data: data)
    parser.shouldResolveExternalEntities = false
    parser.externalEntityResolvingPolicy = .never
    parser.delegate = adapter
    let whole = parser.parse()
    let line = adapter.line ?? parser.lineNumber
    if var error = adapter.failure as? BatchError {
      error.code = code
      error.path = error.path ?? path
      error.message += " (line \(line))"
      throw error
    }
    guard whole, adapter.failure == nil else { throw BatchError(code, damage(of: data, at: line), path: path) }
  }

  /// The parser's own errors are numbers.
  private static func damage(of data: Data, at line: Int) -> String {
    let lines = data.count { $0 == UInt8(ascii: "\n") } + (data.last == UInt8(ascii: "\n") ? 0 : 1)
    return "the XML is damaged at line \(line)" + (line < lines ? "" : ", its last one: it may be cut off")
  }

  /// Turns the parser's calls into throwing ones and keeps the first error.
  private final class Adapter: NSObject, XMLParserDelegate {
    private let events: any XMLEvents
    private var depth = 0
    var failure: (any Error)?
    var line: Int?

    init(_ events: any XMLEvents) { self.events = events }

    private func keep(_ parser: XMLParser, _ body: () throws -> Void) {
      guard failure == nil else { return }
      do { try body() } catch {
        failure = error
        line = parser.lineNumber
        parser.abortParsing()
      }
    }

    func parser(
      _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
      attributes: [String: String]
    ) {
      keep(parser) {
        depth += 1
        guard depth <= greatestDepth else { throw BatchError(.badModel, "elements are nested too deeply") }
        try events.start(element, attributes)
      }
    }

    func parser(_ parser: XMLParser, foundCharacters characters: String) { events.text(characters) }

    func parser(
      _ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?
    ) {
      keep(parser) {
        depth -= 1
        try events.end(element)
      }
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
      // The parser repairs what it can and continues: without this a file that was cut off would pass for a small
      // model.
      guard failure == nil else { return }
      failure = error
      line = parser.lineNumber
    }
  }
}
