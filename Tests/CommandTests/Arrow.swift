import Foundation

/// Apache Arrow, as the Python package pyarrow has it.
enum Arrow {
  static let missing = "pyarrow is not here: python3 -m pip install pyarrow"

  static var isThere: Bool { (try? run(["-c", "import pyarrow.parquet"]))?.code == 0 }

  /// Reads a Parquet file by Arrow and the same objects as JSON lines, and prints what differs.
  private static let comparison = #"""
    import base64, datetime, json, sys, uuid
    import pyarrow.parquet as parquet
    table = parquet.read_table(sys.argv[1])
    rows, lines = table.to_pylist(), [json.loads(line) for line in open(sys.argv[2])]
    if len(rows) != len(lines): print(len(rows), "rows,", len(lines), "lines")
    def text(value, other):
        if isinstance(value, datetime.datetime): return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        if isinstance(value, uuid.UUID): return str(value).upper()
        if isinstance(value, bytes) and len(value) == 16 and isinstance(other, str) and len(other) == 36:
            return str(uuid.UUID(bytes=value)).upper()
        if isinstance(value, bytes): return base64.b64encode(value).decode()
        if isinstance(value, str) and isinstance(other, (int, float)): return float(value)
        return value
    for row, line in zip(rows, lines):
        if (row["@entity"], row["@key"], row["@uri"]) != (line["entity"], line["key"], line["uri"]): print(row, line)
        for name, other in line["attributes"].items():
            if text(row[name], other) != other: print(line["key"], name, repr(row[name]), repr(other))
        for name, other in line["relationships"].items():
            if row[name] != (other and other["key"]): print(line["key"], name, row[name], other)
    """#

  /// What the two say differently; empty if they agree.
  static func compare(_ parquet: String, _ lines: String) throws -> String {
    let outcome = try run(["-c", comparison, parquet, lines])
    return outcome.code == 0 ? outcome.output : "failed: \(outcome.output)"
  }

  /// Rows, columns and names of columns that the file has for Arrow.
  static func shape(_ parquet: String) throws -> String {
    let program = """
      import sys, pyarrow.parquet as parquet
      table = parquet.read_table(sys.argv[1])
      print(len(table.to_pylist()), table.num_columns, len(set(table.column_names)))
      """
    return try run(["-c", program, parquet]).output
  }

  private static func run(_ arguments: [String]) throws -> (code: Int32, output: String) {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3"] + arguments
    (process.standardOutput, process.standardError) = (pipe, pipe)
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }
}
