/// Numbers of attributes that are Floats, as people and files write them.
package enum ShortFloat {
  /// The float that the text of a double means: the short text of a float means that float; a longer one is the double
  /// that it says.
  package static func meant(_ double: Double) -> Double {
    let float = Float(double)
    return float.isFinite && Double(float.description) == double ? Double(float) : double
  }
}
