import Codecs
import CoreDataModel
import RunSupport

extension Expression {
  /// Reads an expression in NSPredicate's format: key paths, literals, arithmetic, `CAST`, `TERNARY`, `FUNCTION`,
  /// `FETCH`, `SUBQUERY` and functions by name.
  ///
  /// - Throws: ``BatchError`` with the code `badMapping` that names what is not understood: a function that is not
  ///   supported, a placeholder such as `%K`, or a text that is nested too deeply.
  public init(format: String) throws {
    do { self = try PredicateParser.expression(format, isStrict: true) } catch let damage as ExpressionDamage {
      throw BatchError(.badMapping, "the expression \(damage)", hint: "Write it in NSPredicate's format")
    }
  }

  /// Reads an NSExpression from its keyed archive, as mapping models hold it (D.3).
  ///
  /// Throws ``BatchError`` with the code `badMapping` for what is no such archive.
  init(archive bytes: [UInt8]) throws {
    guard let root = try KeyedArchive(bytes).root else {
      throw BatchError(.badMapping, "the archive holds no expression")
    }
    do { self = try ExpressionArchiveReader.expression(root) } catch let damage as ExpressionDamage {
      throw BatchError(.badMapping, "the expression \(damage)")
    }
  }
}

extension Predicate {
  /// Reads a predicate in NSPredicate's format: comparisons, `AND`, `OR`, `NOT`, `ANY`, `ALL`, `NONE`, `SUBQUERY`.
  ///
  /// - Throws: ``BatchError`` with the code `badMapping`, as ``Expression/init(format:)`` does.
  public init(format: String) throws {
    do { self = try PredicateParser.predicate(format, isStrict: true) } catch let damage as ExpressionDamage {
      throw BatchError(.badMapping, "the predicate \(damage)", hint: "Write it in NSPredicate's format")
    }
  }
}
