import CoreData

// Policies as they stand in applications: of Core Data they know this module alone.

/// Looks for makers among what is registered.
final class RegisteredMakerPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    guard let name = sInstance.value(forKey: "maker") as? String,
      let car = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first,
      let context = car.managedObjectContext
    else { return }
    let known = context.registeredObjects.first {
      $0.entity.name == "Maker" && $0.value(forKey: "name") as? String == name
    }
    let maker = known ?? NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
    if known == nil { maker.setValue(name, forKey: "name") }
    var cars = maker.value(forKey: "cars") as? Set<NSManagedObject> ?? []
    cars.insert(car)
    maker.setValue(cars, forKey: "cars")
  }
}

/// Keeps makers in the manager's userInfo.
final class RememberedMakerPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    guard let name = sInstance.value(forKey: "maker") as? String else { return }
    let car = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
    var makers = manager.userInfo?["makers"] as? [String: NSManagedObject] ?? [:]
    if makers[name] == nil {
      let maker = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: manager.destinationContext)
      maker.setValue(name, forKey: "name")
      makers[name] = maker
      manager.userInfo = ["makers": makers]
    }
    car?.setValue(makers[name], forKey: "maker")
  }
}

/// Fetches makers, and makes cars by itself.
final class FetchedMakerPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let car = NSEntityDescription.insertNewObject(forEntityName: "Car", into: manager.destinationContext)
    for key in ["number", "price", "isUsed", "sold", "code"] { car.setValue(sInstance.value(forKey: key), forKey: key) }
    if let name = sInstance.value(forKey: "maker") as? String {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Maker")
      request.predicate = NSPredicate(format: "%K == %@", "name", name)
      request.fetchLimit = 1
      let maker =
        try manager.destinationContext.fetch(request).first
        ?? NSEntityDescription.insertNewObject(forEntityName: "Maker", into: manager.destinationContext)
      maker.setValue(name, forKey: "name")
      car.setValue(maker, forKey: "maker")
    }
    manager.associate(sourceInstance: sInstance, withDestinationInstance: car, for: mapping)
  }
}

/// Says of each car how many others its owner has, by relationships, fetches and methods.
@available(iOS 13, *)
class NotePolicy: NSEntityMigrationPolicy {
  func note(for used: NSNumber, _ owner: NSManagedObject?) -> String {
    let cars = owner?.value(forKey: "cars") as? Set<NSManagedObject> ?? []
    return "\(used.boolValue ? "used" : "new"), one of \(cars.count)"
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    let source = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance])[0]
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Car")
    request.predicate = NSPredicate(
      format: "maker == %@ AND number < %ld", source.value(forKey: "maker") as? String, 50)
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: false)]
    let cars = try manager.sourceContext.fetch(request) as? [NSManagedObject] ?? []
    if let first = cars.first { dInstance.setValue(first.value(forKey: "price"), forKey: "price") }
  }
}
