// swift-tools-version: 6.2
// What only measuring needs: the normal build does not pay for it. The benchmark package finds its targets directly in
// a folder named Benchmarks, so Micro lies here and the other programs lie one deeper.
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny")]

let package = Package(
  name: "godwit-benchmarks",
  dependencies: [
    .package(name: "godwit", path: ".."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    // Without traits: counting allocations would replace malloc, which is not what is measured here.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .target(
      name: "Kernels", dependencies: [.product(name: "Streams", package: "godwit")], path: "Kernels",
      swiftSettings: strict),
    .executableTarget(
      name: "Micro",
      dependencies: [
        "Kernels", .product(name: "Streams", package: "godwit"), .product(name: "Benchmark", package: "benchmark"),
      ],
      path: "Micro", swiftSettings: strict, plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    .executableTarget(
      name: "floor", dependencies: ["Kernels", .product(name: "Streams", package: "godwit")], path: "Programs/Floor",
      swiftSettings: strict),
    .executableTarget(name: "span", path: "Programs/Span", swiftSettings: strict),
    .executableTarget(
      name: "insert", dependencies: [.product(name: "GRDB", package: "GRDB.swift")], path: "Programs/Insert",
      swiftSettings: strict),
    .executableTarget(
      name: "policy-migration",
      dependencies: [.product(name: "Batch", package: "godwit"), .product(name: "BatchCommand", package: "godwit")],
      path: "Programs/PolicyMigration", swiftSettings: strict),
    .executableTarget(
      name: "core-data-policy-migration",
      dependencies: ["Batch", "BatchCommand", "CoreData"].map { .product(name: $0, package: "godwit") },
      path: "Programs/PolicyClasses", swiftSettings: strict),
  ]
)
