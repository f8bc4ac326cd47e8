// insert SOURCE DESTINATION: the plain work (W1) as a Swift program would do it that knows GRDB well: one statement
// that reads, one prepared statement that is executed for every row, one transaction, nothing durable before the end.
// The destination has its schema already.
import Foundation
import GRDB

guard CommandLine.arguments.count == 3 else {
  FileHandle.standardError.write(Data("usage: insert SOURCE DESTINATION\n".utf8))
  exit(64)
}

var reading = Configuration()
reading.readonly = true
let source = try DatabaseQueue(path: CommandLine.arguments[1], configuration: reading)
var writing = Configuration()
writing.prepareDatabase { db in
  for pragma in [
    "journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "secure_delete = OFF",
    "cache_size = -524288",
    "temp_store = MEMORY",
  ] {
    _ = try Row.fetchAll(db, sql: "PRAGMA " + pragma)
  }
}
let destination = try DatabaseQueue(path: CommandLine.arguments[2], configuration: writing)

let columns =
  "Z_PK, Z_ENT, Z_OPT, ZFLAG, ZPOSITION, ZSERIAL, ZSTATE, ZAMOUNT, ZCREATED, ZPRICE, ZCATEGORY, ZNAME, ZNOTE, ZIDENTIFIER"
let computed =
  "Z_PK, Z_ENT, Z_OPT, ZFLAG, ZPOSITION, ZSERIAL, 7, CAST(ZAMOUNT AS REAL), ZCREATED, ZPRICE, ZCATEGORY, ZNAME, ZNOTE, ZIDENTIFIER"

try source.read { reader in
  try destination.write { writer in
    let marks = Array(repeating: "?", count: 14).joined(separator: ", ")
    let insert = try writer.makeStatement(sql: "INSERT INTO ZROW (\(columns)) VALUES (\(marks))")
    let rows = try Row.fetchCursor(reader, sql: "SELECT \(computed) FROM ZROW ORDER BY Z_PK")
    while let row = try rows.next() {
      insert.setUncheckedArguments(StatementArguments(row.databaseValues))
      try insert.execute()
    }
  }
}
try destination.close()
