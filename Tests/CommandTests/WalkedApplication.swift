import Foundation

/// The application that the manual walks through: each of its policies does something, and a mapping model names it.
struct WalkedApplication {
  /// The mapping model that is there compiled alone, and the policy that it names.
  static let compiled = "Library2_to_Library3_User"
  static let userPolicy = "MHWUserToUserPolicy"

  private static let bookPolicy = """
    import CoreData
    import Foundation

    /// Gives each book its author as an object, and later its file.
    @objc(LibraryBookPolicy)
    final class BookPolicy: NSEntityMigrationPolicy {
      override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
      ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let books = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        guard let book = books.first else { return }
        let context = manager.destinationContext
        switch mapping.userInfo?["modelVersion"] as? String {
        case "2":
          guard let name = sInstance.value(forKey: "authorName") as? String else { return }
          book.mutableSetValue(forKey: "authors").add(try author(named: name, in: context))
        case "3":
          let file = NSEntityDescription.insertNewObject(forEntityName: "File", into: context)
          file.setValue(sInstance.value(forKey: "fileURL"), forKey: "fileURL")
          file.setValue(book, forKey: "book")
          let users = manager.destinationInstances(forSourceRelationshipNamed: "user", sourceInstances: [sInstance])
          file.setValue(users.first, forKey: "user")
        default: break
        }
      }

      private func author(named name: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.predicate = NSPredicate(format: "name == %@", name)
        request.fetchLimit = 1
        if let author = try context.fetch(request).first { return author }
        let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
        author.setValue(name, forKey: "name")
        return author
      }
    }

    """

  private static let users = """
    import CoreData
    import Foundation

    @objc(MHWUserToUserPolicy)
    @objcMembers
    class UserPolicy: NSEntityMigrationPolicy {
      override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
      ) throws {
        guard sInstance.entity.name == "User" else { return }
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
      }
    }

    """

  /// Writes it as the folder `App`, and what Xcode would make of it as `App.ipa`.
  init(in folder: CommandFolder) throws {
    let home = try ApplicationFolder(in: folder).path + "/App"
    try FileManager.default.removeItem(atPath: home + "/Policies/BookPolicies.swift")
    for (name, text) in [("BookPolicy", Self.bookPolicy), ("UserPolicy", Self.users)] {
      try text.write(toFile: "\(home)/Policies/\(name).swift", atomically: true, encoding: .utf8)
    }
    let policies = [Self.compiled: Self.userPolicy]
    try ApplicationFolder.compile(into: home + "/Mappings", names: [Self.compiled], policies: policies)
    try ZipFile(ApplicationFolder.compiled(policies: policies)).write(to: folder.file("App.ipa"))
  }
}
