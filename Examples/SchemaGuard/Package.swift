// swift-tools-version: 6.2
import PackageDescription

// The application's models, and tests of their migrations that run on Linux, too: Godwit reads the sources of the models as text.
let package = Package(
  name: "SchemaGuard",
  platforms: [.macOS(.v14), .iOS(.v17)],
  products: [.library(name: "Trips", targets: ["Trips"])],
  dependencies: [.package(name: "godwit", path: "../..")],
  targets: [
    // Needs SwiftData, and so a Mac.
    .target(name: "Trips"),
    .testTarget(
      name: "TripsTests",
      dependencies: [.product(name: "Batch", package: "godwit"), .product(name: "BatchTesting", package: "godwit")]),
  ]
)
