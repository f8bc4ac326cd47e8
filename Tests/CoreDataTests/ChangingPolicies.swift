import CoreData

// Policies as they stand in applications: of Core Data they know this module alone.

/// Gives cars a picture, and looks at it.
final class PicturingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let car = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])[0]
    let picture = Data([1, 7])
    car.setValue(picture, forKey: "photo")
    if car.value(forKey: "photo") as? Data != picture { car.setValue(Data(), forKey: "photo") }
  }
}

/// Deletes what it does not want: used cars, and makers without a name.
final class DeletingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let context = manager.destinationContext
    guard let car = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
    else { return }
    let maker = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
    maker.setValue(sInstance.value(forKey: "maker"), forKey: "name")
    if maker.value(forKey: "name") == nil { context.delete(maker) }
    guard sInstance.value(forKey: "isUsed") as? Bool == true else { return }
    context.delete(car)
    car.setValue("deleted twice", forKey: "note")
    context.delete(car)
  }
}

/// Deletes what cannot be deleted, as its mapping's userInfo says.
final class MisdeletingPolicy: NSEntityMigrationPolicy {
  private static let kind = "kind"

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let context = manager.destinationContext
    let car = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])[0]
    let makers = ["a", "b"].map { name in
      let maker = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
      maker.setValue(name, forKey: "name")
      return maker
    }
    switch mapping.userInfo?[Self.kind] as? String {
    case "source": context.delete(sInstance)
    case "linked":
      car.setValue(makers[1], forKey: "maker")
      context.delete(makers[1])
    case "earlier": context.delete(makers[0])
    default: break
    }
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    if mapping.userInfo?[Self.kind] as? String == "written" { manager.destinationContext.delete(dInstance) }
  }
}

/// Sets expressions of property mappings, as its mapping's userInfo says.
final class ExpressingPolicy: NSEntityMigrationPolicy {
  private func property(_ name: String, of mapping: NSEntityMapping) -> NSPropertyMapping? {
    ((mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])).first { $0.name == name }
  }

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    try super.begin(mapping, with: manager)
    if mapping.userInfo?["kind"] as? String == "begin" {
      property("note", of: mapping)?.valueExpression = NSExpression(forConstantValue: "begun")
    }
  }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    switch mapping.userInfo?["kind"] as? String {
    case "format": property("note", of: mapping)?.valueExpression = NSExpression(format: "$source.%@", "number")
    case "relationship": property("owner", of: mapping)?.valueExpression = NSExpression(forConstantValue: nil)
    default:
      guard sInstance.value(forKey: "isUsed") as? Bool == true else { break }
      let number = property("number", of: mapping)?.valueExpression?.description ?? ""
      property("note", of: mapping)?.valueExpression = NSExpression(forConstantValue: "used, by \(number)")
      property("sold", of: mapping)?.valueExpression = nil
    }
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
  }
}

/// Adds cars to their maker in their order.
final class OrderingPolicy: NSEntityMigrationPolicy {
  private func maker(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Maker")
    request.predicate = NSPredicate(format: "name == %@", name)
    if let found = try context.fetch(request).first { return found }
    let made = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
    made.setValue(name, forKey: "name")
    return made
  }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    guard let name = sInstance.value(forKey: "maker") as? String,
      let car = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
    else { return }
    let cars = try maker(name, manager.destinationContext).mutableOrderedSetValue(forKey: "cars")
    cars.add(car)
    cars.add(car)
    if mapping.userInfo?["kind"] as? String == "taken" { cars.removeObject(at: 0) }
    if mapping.userInfo?["kind"] as? String == "first", cars.count > 1 { cars.insert(car, at: 0) }
  }
}

/// Has methods that take the manager, its contexts and the mapping.
final class TalkingPolicy: NSEntityMigrationPolicy {
  func note(_ source: NSManagedObject, _ manager: NSMigrationManager, _ mapping: NSEntityMapping) throws -> String {
    "\(source.value(forKey: "number") ?? 0) of \(mapping.name ?? "") by \(manager.currentEntityMapping.name ?? "")"
  }

  func price(_ source: NSManagedObjectContext, _ destination: NSManagedObjectContext) throws -> NSNumber {
    let cars = try source.count(for: NSFetchRequest<NSManagedObject>(entityName: "Car"))
    return NSNumber(value: destination.hasChanges && !source.hasChanges ? cars : -1)
  }
}
