#include <sqlite3.h>

// sqlite3_db_config takes a variable number of arguments, which Swift cannot call.

/// Defensive mode: SQL cannot damage the file on purpose. No functions of an application in schemas. No extensions.
/// The connection comes untyped: another module sees SQLite's header as well. Returns an error of SQLite's, or 0.
static inline int godwit_guard(void *connection) {
  sqlite3 *db = (sqlite3 *)connection;
  int code = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
  if (code == SQLITE_OK) code = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
  if (code == SQLITE_OK) code = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, (int *)0);
  return code;
}
