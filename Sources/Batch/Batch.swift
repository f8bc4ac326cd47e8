// Programs import this module alone; it has no code of its own.
@_exported import Applications
@_exported import Codecs
@_exported import CoreDataModel
@_exported import CoreDataStore
@_exported import Fleets
@_exported import MappingModels
@_exported import MigrationJobs
@_exported import Migrations
@_exported import PostgresLoads
@_exported import RunSupport
@_exported import StoreExports
@_exported import StoreSamples
@_exported import StoreVerification
@_exported import SwiftDataModels
