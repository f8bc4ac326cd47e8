// The part of check-on-a-mac that needs Core Data. It was written without a Mac at hand: kept plain on purpose.
import CoreData
import Foundation

func fail(_ message: String) -> Never {
  print("FAILED: \(message)")
  exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else { fail("two arguments are needed: a store and a compiled model") }
let storeURL = URL(fileURLWithPath: arguments[1])
let modelURL = URL(fileURLWithPath: arguments[2])
print("system \(ProcessInfo.processInfo.operatingSystemVersionString)")

/// All versions of a .momd, or the one of a .mom.
func models() -> [NSManagedObjectModel] {
  guard modelURL.pathExtension == "momd" else { return NSManagedObjectModel(contentsOf: modelURL).map { [$0] } ?? [] }
  let files = (try? FileManager.default.contentsOfDirectory(at: modelURL, includingPropertiesForKeys: nil)) ?? []
  return files.filter { $0.pathExtension == "mom" }.compactMap { NSManagedObjectModel(contentsOf: $0) }
}

let metadata: [String: Any]
do {
  metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: storeURL, options: nil)
} catch {
  fail("the metadata cannot be read: \(error)")
}
print("framework version in the metadata: \(metadata["NSPersistenceFrameworkVersion"] ?? "none")")
let fitting = models().filter { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) }
print("versions of the model that fit: \(fitting.count)")
guard let model = fitting.first else { fail("no version of the model fits the store") }

// Read-write, no migration: Core Data takes the store as it is, or refuses it.
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
do {
  let options = [NSMigratePersistentStoresAutomaticallyOption: false, NSInferMappingModelAutomaticallyOption: false]
  _ = try coordinator.addPersistentStore(
    ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL, options: options)
} catch {
  fail("the store cannot be opened: \(error)")
}
print("opened")

let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator
var problems = 0

func report(_ message: String) {
  problems += 1
  if problems <= 50 { print("PROBLEM: \(message)") }
}

/// Faults one object: reads every attribute, follows every relationship, looks at the inverse.
func visit(_ object: NSManagedObject) {
  let entity = object.entity
  let place = "\(entity.name ?? "") \(object.objectID.uriRepresentation().lastPathComponent)"
  for (name, attribute) in entity.attributesByName where !attribute.isTransient {
    if object.value(forKey: name) == nil, !attribute.isOptional { report("\(place): the required \(name) is nil") }
  }
  for (name, relationship) in entity.relationshipsByName where !relationship.isTransient {
    let others: [NSManagedObject]
    switch object.value(forKey: name) {
    case let one as NSManagedObject: others = [one]
    case let set as NSSet: others = set.allObjects.compactMap { $0 as? NSManagedObject }
    case let ordered as NSOrderedSet: others = ordered.array.compactMap { $0 as? NSManagedObject }
    default: others = []
    }
    for other in others {
      do { _ = try context.existingObject(with: other.objectID) } catch { report("\(place).\(name): an object is missing") }
      guard let destination = relationship.destinationEntity else { continue }
      if !other.entity.isKindOf(entity: destination) { report("\(place).\(name): an object of \(other.entity.name ?? "")") }
      guard let inverse = relationship.inverseRelationship?.name else { continue }
      let back = other.value(forKey: inverse)
      let isThere =
        (back as? NSManagedObject) == object || (back as? NSSet)?.contains(object) == true
        || (back as? NSOrderedSet)?.contains(object) == true
      if !isThere { report("\(place).\(name): the inverse \(inverse) does not lead back") }
    }
  }
}

for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) where !entity.isAbstract {
  let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
  request.includesSubentities = false
  request.fetchBatchSize = 500
  do {
    let count = try context.count(for: request)
    let objects = try context.fetch(request)
    if objects.count != count { report("\(entity.name ?? ""): counted \(count), fetched \(objects.count)") }
    for (index, object) in objects.enumerated() {
      autoreleasepool { visit(object) }
      // Memory: objects that were visited become faults again.
      if index % 5000 == 4999 { context.refreshAllObjects() }
    }
    print("\(entity.name ?? ""): \(count) objects")
  } catch {
    report("\(entity.name ?? ""): \(error)")
  }
  context.reset()
}

// A new object of the first entity that allows it, saved and deleted again: keys and locks work.
for entity in model.entities where !entity.isAbstract {
  guard entity.attributesByName.values.allSatisfy({ $0.isOptional || $0.defaultValue != nil }) else { continue }
  guard entity.relationshipsByName.values.allSatisfy({ $0.isOptional || $0.minCount == 0 }) else { continue }
  let object = NSManagedObject(entity: entity, insertInto: context)
  do {
    try context.save()
    context.delete(object)
    try context.save()
    print("saved and deleted an object of \(entity.name ?? "")")
  } catch {
    report("saving an object of \(entity.name ?? ""): \(error)")
  }
  break
}

print(problems == 0 ? "PASSED" : "FAILED: \(problems) problems")
exit(problems == 0 ? 0 : 1)
