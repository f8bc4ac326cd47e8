import Foundation

/// A fetch request without the type of what it gives.
struct FetchQuestion {
  var entity: String
  var predicate: NSPredicate?
  var order: [NSSortDescriptor]
  var limit: Int
  var offset: Int
  var includesSubentities: Bool
}
