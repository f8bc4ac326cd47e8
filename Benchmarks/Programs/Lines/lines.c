// lines make ROWS FILE: writes objects of Small as JSON lines, or as CSV if FILE ends with .csv. The same in every run.
// lines insert FILE STORE: what a program does that knows SQLite and these lines: one prepared INSERT, executed for every line in one
// transaction. It reads no other JSON than that of `make`, and checks little. The store has its schema already.
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what) {
  fprintf(stderr, "lines: %s\n", what);
  exit(1);
}

static int isCSV(const char *path) {
  const size_t length = strlen(path);
  return length > 4 && strcmp(path + length - 4, ".csv") == 0;
}

static uint64_t state = 7;
static uint64_t next(void) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return state >> 33;
}

static void make(long rows, const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) fail("the file cannot be made");
  const int csv = isCSV(path);
  if (csv) fprintf(file, "@key,amount,flag,position,price\n");
  const char *form = csv ? "%ld,%d,%s,%d,%d.%02d\n"
                         : "{\"entity\":\"Item\",\"key\":%ld,\"attributes\":{\"amount\":%d,\"flag\":%s,\"position\":%d,\"price\":%d.%02d}}\n";
  for (long key = 1; key <= rows; key++) {
    const int amount = (int)(next() % 1000000000), position = (int)(next() % 30000), price = (int)(next() % 100000);
    fprintf(file, form, key, amount, next() & 1 ? "true" : "false", position, price, (int)(next() % 100));
  }
  if (fclose(file)) fail("the file cannot be written");
}

/// The value behind a label, or the next field.
static const char *behind(const char *place, const char *label) {
  const char *found = strstr(place, label);
  if (!found) fail("a line has another form");
  return found + strlen(label);
}

static void insert(const char *path, const char *store) {
  FILE *file = fopen(path, "r");
  sqlite3 *db;
  sqlite3_stmt *statement;
  if (!file || sqlite3_open(store, &db)) fail("a file cannot be opened");
  const char *start = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -524288; BEGIN";
  if (sqlite3_exec(db, start, 0, 0, 0)) fail(sqlite3_errmsg(db));
  if (sqlite3_prepare_v2(db, "INSERT INTO ZITEM VALUES (?, 1, 1, ?, ?, ?, ?)", -1, &statement, 0)) fail(sqlite3_errmsg(db));
  const int csv = isCSV(path);
  char *line = 0;
  size_t size = 0;
  if (csv && getline(&line, &size, file) < 0) fail("there is no header");
  while (getline(&line, &size, file) > 0) {
    const char *place = csv ? line : behind(line, "\"key\":");
    sqlite3_bind_int64(statement, 1, strtoll(place, 0, 10));
    place = behind(place, csv ? "," : "\"amount\":");
    sqlite3_bind_int64(statement, 2, strtoll(place, 0, 10));
    place = behind(place, csv ? "," : "\"flag\":");
    sqlite3_bind_int(statement, 3, *place == 't');
    place = behind(place, csv ? "," : "\"position\":");
    sqlite3_bind_int(statement, 4, (int)strtol(place, 0, 10));
    place = behind(place, csv ? "," : "\"price\":");
    sqlite3_bind_double(statement, 5, strtod(place, 0));
    if (sqlite3_step(statement) != SQLITE_DONE || sqlite3_reset(statement)) fail(sqlite3_errmsg(db));
  }
  if (sqlite3_exec(db, "COMMIT", 0, 0, 0)) fail(sqlite3_errmsg(db));
  sqlite3_finalize(statement);
  sqlite3_close(db);
}

int main(int count, char **words) {
  if (count == 4 && strcmp(words[1], "make") == 0) {
    make(atol(words[2]), words[3]);
  } else if (count == 4 && strcmp(words[1], "insert") == 0) {
    insert(words[2], words[3]);
  } else {
    fprintf(stderr, "usage: lines make ROWS FILE | lines insert FILE STORE\n");
    return 64;
  }
  return 0;
}
