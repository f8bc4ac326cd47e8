// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "godwit",
  products: [
    .library(name: "Streams", targets: ["Streams"]),
    .library(name: "Batch", targets: ["Batch"]),
    .library(name: "BatchTesting", targets: ["BatchTesting"]),
    .library(name: "BatchCommand", targets: ["BatchCommand"]),
    .executable(name: "godwit", targets: ["godwit"]),
    .executable(name: "book-migration", targets: ["BookMigration"]),
  ],
  traits: [
    .trait(name: "PostgreSQL", description: "PostgreSQL as a destination, through libpq (Debian: libpq-dev).")
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
    .systemLibrary(name: "CSQLiteGuard", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    // SHA-256 by the processor's own instructions.
    .target(name: "CSHA256"),
    // Headers alone: libpq is loaded when a server is asked for.
    .systemLibrary(name: "CPostgreSQL", providers: [.apt(["libpq-dev"])]),
    .target(name: "Streams", dependencies: ["CLZ4"], swiftSettings: strict),
    .target(
      name: "Batch",
      dependencies: [
        .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
        "CSHA256",
        "CSQLiteGuard",
        "Streams",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
        "Yams",
      ],
      swiftSettings: strict),
    .target(name: "BatchTesting", dependencies: ["Batch", "Streams"], swiftSettings: strict),
    .target(
      name: "BatchCommand",
      dependencies: [
        "Batch",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .executableTarget(name: "godwit", dependencies: ["BatchCommand"], swiftSettings: strict),
    .executableTarget(
      name: "BookMigration", dependencies: ["Batch", "BatchCommand"],
      path: "Examples/BookMigration", exclude: ["Library.xcdatamodeld", "Mappings"], swiftSettings: strict),
    // A disk that loses what was not synced, for tests alone.
    .target(name: "DiskSimulation", dependencies: ["Streams"], path: "Tests/DiskSimulation", swiftSettings: strict),
    // What tests of several modules need of swift-testing.
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
    .testTarget(
      name: "StreamsTests",
      dependencies: ["Streams", "DiskSimulation", "TestSupport", .product(name: "GRDB", package: "GRDB.swift")],
      swiftSettings: strict),
    .testTarget(
      name: "BatchTests",
      dependencies: [
        "Batch", "BatchTesting", "DiskSimulation", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CommandTests",
      dependencies: ["Batch", "BatchCommand", "godwit", "BookMigration", .product(name: "GRDB", package: "GRDB.swift"), "Yams"],
      exclude: ["Golden"],
      swiftSettings: strict),
  ]
)
