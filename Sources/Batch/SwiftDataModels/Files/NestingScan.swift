/// TODO
enum NestingScan {
  static func check(_ text: SourceText) throws {}
}
