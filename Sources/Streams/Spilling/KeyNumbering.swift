/// Numbers the distinct keys of a long sequence in the order in which they come first, without having them all in memory.
///
/// The keys are appended, then numbered, then asked for once more in the same order. What ``SpillingMap`` would look for at
/// random is found part by part here (`KeyParts`): the distinct keys of a part fit in a table. For each key of the sequence the place is kept
/// where it came first, four bytes in a scratch file, part by part as well; so who asks again needs only the next one of
/// the key's part. A bit for each place says whether a key comes first there, and counting bits gives the number.
public final class KeyNumbering {
  private let parts: KeyParts
  private let scratch: (path: String, fileSystem: any FileSystem)
  private let memoryBytes: Int
  @exclusivity(unchecked) private var appended: UInt32 = 0
  /// Keys of every part that were appended, and how many of them are not asked for.
  @exclusivity(unchecked) private var counts = [UInt32](repeating: 0, count: KeyParts.count)
  private var passed: [UInt32]
  private var passedInAll: UInt32 = 0
  @exclusivity(unchecked) private var asked: AskedKeys?

  /// Prepares an empty sequence. Scratch files begin with `path`; `memoryBytes` is what tables take, and then bits. Two MiB are needed
  /// beyond that, and on disk the keys with eight bytes each and four more.
  ///
  /// - Throws: ``StreamsError``.
  public init(path: String, fileSystem: any FileSystem, memoryBytes: Int) throws {
    (scratch, self.memoryBytes) = (("\(path).numbers", fileSystem), memoryBytes)
    parts = try KeyParts(path: "\(path).keys", fileSystem: fileSystem)
    passed = counts
  }

  /// Appends a key; false if the sequence is longer than memory has bits for.
  ///
  /// - Throws: ``StreamsError``.
  public func append(_ key: UnsafeRawBufferPointer, hash: UInt64) throws -> Bool {
    guard KeyRanks.bytes(count: Int(appended) + 1) <= memoryBytes, appended < .max else { return false }
    try parts.append(key, place: appended, hash: hash)
    counts[KeyParts.part(of: hash)] += 1
    appended += 1
    return true
  }

  /// What is asked for begins with the key that is appended next.
  public func beginAsked() { (passed, passedInAll) = (counts, appended) }

  /// Numbers the keys; false if the distinct keys of a part do not fit in memory. `throwIfStopped` is called now and then, on several threads.
  ///
  /// - Throws: ``StreamsError``, and the error of `throwIfStopped`.
  public func number(throwIfStopped: @escaping @Sendable () throws -> Void) throws -> Bool {
    let ranks = KeyRanks(count: Int(appended))
    let finder = FirstPlaces(parts: parts, counts: counts, memoryBytes: memoryBytes, throwIfStopped: throwIfStopped)
    guard let files = try finder.find(at: scratch.path, scratch.fileSystem, ranks) else { return false }
    ranks.count()
    asked = AskedKeys(files, passed: passed, first: passedInAll, ranks: ranks)
    return true
  }

  /// The number of the next key, counted from 0, and whether it comes for the first time.
  ///
  /// - Throws: ``StreamsError``.
  public func next(_ hash: UInt64) throws -> (number: Int64, isFirst: Bool) {
    guard let asked else { preconditionFailure("The keys are not numbered") }
    return try asked.next(KeyParts.part(of: hash))
  }

  /// How many distinct keys come before those that are asked for.
  public var passedNumbers: Int64 { asked?.passedNumbers ?? 0 }
}
