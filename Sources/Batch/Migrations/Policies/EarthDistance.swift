import Foundation

/// Distances on the Earth, taken for a sphere.
enum EarthDistance {
  /// The mean radius of the Earth in metres, of the International Union of Geodesy and Geophysics.
  private static let radius = 6_371_008.8

  /// Metres between two places, whose latitudes and longitudes are in degrees: the haversine formula.
  static func metres(_ from: (latitude: Double, longitude: Double), _ to: (latitude: Double, longitude: Double))
    -> Double
  {
    let (first, second) = (from.latitude * .pi / 180, to.latitude * .pi / 180)
    let across = sin((to.longitude - from.longitude) * .pi / 360)
    let along = sin((second - first) / 2)
    let square = along * along + cos(first) * cos(second) * across * across
    return 2 * radius * asin(min(1, square.squareRoot()))
  }
}
