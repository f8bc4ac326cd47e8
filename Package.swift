// swift-tools-version: 6.2
import PackageDescription

let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
]

/// A product of swift-syntax, which takes minutes to compile: only with the trait SwiftData.
func syntax(_ product: String) -> Target.Dependency {
  .product(name: product, package: "swift-syntax", condition: .when(traits: ["SwiftData"]))
}

// The rooms of the library, bottom to top. The compiler keeps each to what it names; `Batch` is all of them, and what programs import.
let rooms: [(name: String, dependencies: [Target.Dependency])] = [
  ("RunSupport", []),
  ("Codecs", ["RunSupport", "CSHA256"]),
  ("CoreDataModel", ["RunSupport", "Codecs"]),
  ("CoreDataStore", ["RunSupport", "Codecs", "CoreDataModel", "CSQLiteGuard", grdb]),
  ("MappingModels", ["RunSupport", "Codecs", "CoreDataModel", "CoreDataStore", "Yams"]),
  ("Migrations", ["RunSupport", "Codecs", "CoreDataModel", "CoreDataStore", "MappingModels", grdb]),
  ("Applications", ["RunSupport", "Codecs", "CoreDataModel", "MappingModels", "Migrations"]),
  ("StoreVerification", ["RunSupport", "CoreDataModel", "CoreDataStore", grdb]),
  (
    "StoreSamples",
    ["RunSupport", "CoreDataModel", "CoreDataStore", "Migrations", "StoreExports", "StoreVerification"]
  ),
  ("StoreExports", ["RunSupport", "Codecs", "CoreDataModel", "CoreDataStore", "Migrations"]),
  (
    "StoreImports",
    [
      "RunSupport", "Codecs", "CoreDataModel", "CoreDataStore", "Migrations", "MigrationJobs", "StoreExports",
      "StoreVerification",
    ]
  ),
  (
    "MigrationJobs",
    [
      "RunSupport", "Codecs", "CoreDataModel", "CoreDataStore", "MappingModels", "Migrations", "StoreExports",
      "StoreVerification", grdb,
      .product(name: "CoreMetrics", package: "swift-metrics"), .product(name: "Logging", package: "swift-log"),
    ]
  ),
  (
    "LoadTables",
    ["RunSupport", "CoreDataModel", "CoreDataStore", "MappingModels", "MigrationJobs", "StoreExports"]
  ),
  (
    "PlainLoads",
    [
      "RunSupport", "CoreDataModel", "CoreDataStore", "MappingModels", "Migrations", "MigrationJobs", "StoreExports",
      "StoreVerification", "LoadTables", grdb,
    ]
  ),
  ("Loads", ["RunSupport", "MappingModels", "Migrations", "MigrationJobs", "PlainLoads", "PostgresLoads"]),
  (
    "PostgresLoads",
    [
      "RunSupport", "Codecs", "CoreDataModel", "CoreDataStore", "MappingModels", "Migrations", "MigrationJobs",
      "StoreExports", "StoreVerification", "LoadTables",
      .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
    ]
  ),
  ("Fleets", ["RunSupport", "Codecs", "CoreDataModel", "CoreDataStore", "Migrations", "MigrationJobs"]),
  (
    "PolicyPrograms",
    [
      "RunSupport", "Codecs", "CoreDataModel", "Applications", "SwiftDataModels", syntax("SwiftSyntax"),
      syntax("SwiftParser"),
    ]
  ),
  ("SwiftDataModels", ["RunSupport", "Codecs", "CoreDataModel", syntax("SwiftSyntax"), syntax("SwiftParser")]),
]

/// All rooms: for those who look into them, and for all who import the umbrella. Its own module file stays as it is when
/// theirs change, and what was compiled against them would not be compiled again.
let library = rooms.map { Target.Dependency(stringLiteral: $0.name) }

// Apple's module of that name is there where Apple's systems are.
#if os(Linux)
  let coreData = [
    Target.target(
      name: "CoreData",
      dependencies: ["RunSupport", "Codecs", "CoreDataModel", "MappingModels", "Migrations", "Streams"],
      swiftSettings: strict),
    // Compiled as applications are.
    .testTarget(
      name: "CoreDataTests", dependencies: ["CoreData", "Batch", "BatchTesting", "Streams"] + library,
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ]
  let coreDataProducts: [Product] = [.library(name: "CoreData", targets: ["CoreData"])]
#else
  let coreDataProducts: [Product] = []
  let coreData: [Target] = []
#endif

let package = Package(
  name: "godwit",
  products: [
    .library(name: "Streams", targets: ["Streams"]),
    .library(name: "Batch", targets: ["Batch"] + rooms.map(\.name)),
    .library(name: "BatchTesting", targets: ["BatchTesting"]),
    .library(name: "BatchCommand", targets: ["BatchCommand"]),
    .executable(name: "godwit", targets: ["godwit"]),
    .executable(name: "book-migration", targets: ["BookMigration"]),
  ] + coreDataProducts,
  traits: [
    .default(enabledTraits: ["SwiftData"]),
    .trait(name: "PostgreSQL", description: "PostgreSQL as a destination, through libpq (Debian: libpq-dev)."),
    .trait(name: "SwiftData", description: "Models from the sources of SwiftData, through swift-syntax."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
  ],
  targets: [
    .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
    .systemLibrary(name: "CSQLiteGuard", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CProcessor"),
    // SHA-256 by the processor's own instructions.
    .target(name: "CSHA256"),
    // Headers alone: libpq is loaded when a server is asked for.
    .systemLibrary(name: "CPostgreSQL", providers: [.apt(["libpq-dev"])]),
    .target(name: "Streams", dependencies: ["CLZ4", "CProcessor"], swiftSettings: strict),
    .target(
      name: "Batch", dependencies: library, path: "Sources/Batch",
      exclude: rooms.map(\.name) + ["Batch.docc"], sources: ["Batch.swift"], swiftSettings: strict),
    .target(name: "BatchTesting", dependencies: ["Batch", "Streams"] + library, swiftSettings: strict),
    .target(
      name: "BatchCommand",
      dependencies: [
        "Batch",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ] + library,
      swiftSettings: strict),
    .executableTarget(name: "godwit", dependencies: ["BatchCommand"] + library, swiftSettings: strict),
    .executableTarget(
      name: "BookMigration", dependencies: ["Batch", "BatchCommand"] + library,
      path: "Examples/BookMigration", exclude: ["Library.xcdatamodeld", "Mappings"], swiftSettings: strict),
    // A disk that loses what was not synced, for tests alone.
    .target(name: "DiskSimulation", dependencies: ["Streams"], path: "Tests/DiskSimulation", swiftSettings: strict),
    // What tests of several modules need of swift-testing.
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
    // Writes mapping models as Xcode compiles them.
    .target(
      name: "CompiledMappings", dependencies: ["Codecs", "CoreDataModel", "MappingModels"],
      path: "Tests/CompiledMappings", swiftSettings: strict),
    .testTarget(
      name: "StreamsTests",
      dependencies: ["Streams", "DiskSimulation", "TestSupport", grdb],
      swiftSettings: strict),
    .testTarget(
      name: "BatchTests",
      dependencies: [
        "Batch", "BatchTesting", "CompiledMappings", "DiskSimulation", "TestSupport", grdb,
        .product(name: "MetricsTestKit", package: "swift-metrics"),
      ] + library,
      swiftSettings: strict),
    .testTarget(
      name: "SwiftDataModelsTests",
      dependencies: [
        "RunSupport", "CoreDataModel", "CoreDataStore", "MappingModels", "Migrations", "SwiftDataModels", "Streams",
        grdb,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CommandTests",
      dependencies: ["Batch", "BatchCommand", "CompiledMappings", "godwit", "BookMigration", grdb, "Yams"] + library,
      exclude: ["Golden"],
      swiftSettings: strict),
  ]
    + rooms.map {
      .target(
        name: $0.name, dependencies: ["Streams"] + $0.dependencies, path: "Sources/Batch/\($0.name)",
        swiftSettings: strict)
    } + coreData
)
