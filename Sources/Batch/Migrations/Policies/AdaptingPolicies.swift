import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

// What the adapter of NSEntityMigrationPolicy needs of a running step beyond what policies are offered.
extension MigrationManager {
  /// What the adapter keeps for the step, and for as long as the step has objects.
  package var attachment: AnyObject? {
    get { step.attachment }
    nonmutating set { step.attachment = newValue }
  }

  /// The source as objects.
  package var graph: SourceGraph { step.graph }
  /// Destination entities by Z_ENT; the first element is unused.
  package var destinationEntities: [DestinationEntity?] { step.byNumber }
  /// The entity mappings of the step with a source and a destination.
  package var entityMappings: [EntityMapping] { step.bySource.flatMap { $0.map(\.mapping) } }
  /// Whether mappings without policies of the adapter make objects of entities.
  package func hasForeignMappings(to entities: Set<String>) -> Bool {
    step.bySource.joined().contains {
      entities.contains($0.destination.name) && !($0.policy?.policy is any TypedFunctionPolicy)
    }
  }
  /// What the step may take in memory.
  package var budget: MemoryBudget { step.graph.budget }

  /// Finds by a look-up that is a wish, and says whether no other object has the value; nil where the model lacks it.
  ///
  /// Throws ``BatchError``, and `StreamsError` of the disk below.
  package func findWished(_ entity: String, where attribute: String, is value: Value) throws -> (
    object: DestinationObject?, isOnly: Bool
  )? {
    try step.findWished(entity, attribute: attribute, value: value)
  }

  /// Whether both are of one running step.
  package func isSame(as other: MigrationManager) -> Bool { step === other.step }

  /// Whether an earlier process has begun the step.
  package var isResumed: Bool { step.isResumed }

  /// A destination object by its key: the open one, else a reference to what is written, or will be.
  package func object(_ entity: DestinationEntity, key: Int64) -> DestinationObject {
    step.objects.find(table: entity.table, key: key) ?? step.reference(to: entity, key: key)
  }

  /// Whether an open object is as the model demands, where one that is not can be taken back.
  ///
  /// Throws ``BatchError`` (`policyFailed`).
  package func checkIfRejectable(_ object: DestinationObject) throws {
    if step.canReject { try object.check() }
  }

  /// Takes back an object of the call at work that is linked with nothing; false if that is not possible any longer.
  package func takeBack(_ object: DestinationObject) -> Bool { step.takeBack(object) }

  /// Makes the object that stands for the source object of the call at work, by the mapping at work.
  ///
  /// Throws ``BatchError`` (`policyFailed`) for a second one.
  package func createDestinationInstance(forCurrent source: SourceObject) throws -> DestinationObject {
    guard !step.hasPrimary, let compiled = step.currentCompiled else { throw step.secondInstance(source) }
    return try compiled._withUnsafeGuaranteedRef { try step.create($0, source) }
  }

  /// The error for a row that a policy at work cannot read or write.
  package func failure(_ message: String, hint: String? = nil, entity: String? = nil, key: Int64? = nil) -> BatchError {
    BatchError(.policyFailed, message, hint: hint, entity: entity, key: key)
  }
}
