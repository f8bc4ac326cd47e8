// What SQLite's own library tells of the schema, and page 1.
#include "proof.h"

static sqlite3 *store;

static sqlite3_stmt *ask(const char *text, const char *value) {
  sqlite3_stmt *made;
  if (sqlite3_prepare_v2(store, text, -1, &made, 0)) end(1, sqlite3_errmsg(store), "");
  sqlite3_bind_text(made, 1, value, -1, SQLITE_TRANSIENT);
  return made;
}
static char *word(sqlite3_stmt *row, int column) {
  const char *found = (const char *)sqlite3_column_text(row, column);
  return found ? strdup(found) : 0;
}

static void refuse(void) {
  sqlite3_stmt *found = ask(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND (wr OR type IN ('virtual', 'shadow')) UNION ALL "
      "SELECT m.name FROM sqlite_schema m, pragma_index_xinfo(m.name) x WHERE m.type = 'index' AND x.key "
      "AND (x.cid < 0 OR x.coll <> 'BINARY' OR x.seqno > 14) UNION ALL "
      "SELECT l.name FROM sqlite_schema m, pragma_index_list(m.name) l WHERE m.type = 'table' AND l.partial UNION ALL "
      "SELECT m.name FROM sqlite_schema m, pragma_table_xinfo(m.name) x WHERE m.type = 'table' AND x.hidden", "");
  if (sqlite3_step(found) == SQLITE_ROW) end(2, "no ordinary table or index: ", word(found, 0));
  sqlite3_finalize(found);
}

/// The indexed columns of a table in their order, and its indexes.
static void readTable(Table *table, Object *objects, int count) {
  sqlite3_stmt *row = ask("SELECT cid FROM pragma_table_info(?1) WHERE pk AND upper(type) = 'INTEGER' "
                          "AND (SELECT count(*) FROM pragma_table_info(?1) WHERE pk) = 1 AND NOT EXISTS (SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk')", table->object->text[1]);
  table->alias = sqlite3_step(row) == SQLITE_ROW ? sqlite3_column_int(row, 0) : -1;
  sqlite3_finalize(row);
  row = ask("SELECT DISTINCT c.cid, upper(c.type) LIKE '%INT%' FROM pragma_index_list(?1) l, pragma_index_xinfo(l.name) x, pragma_table_info(?1) c "
            "WHERE x.key AND c.cid = x.cid ORDER BY c.cid", table->object->text[1]);
  while (sqlite3_step(row) == SQLITE_ROW) {
    if (table->columns == MOST_COLUMNS) end(2, "too many columns in indexes of ", table->object->text[1]);
    table->column[table->columns++] = (Column){.column = sqlite3_column_int(row, 0), .isInteger = sqlite3_column_int(row, 1)};
  }
  sqlite3_finalize(row);
  table->index = calloc((size_t)count, sizeof(Index));
  for (Object *object = objects; object < objects + count; object++) {
    if (strcmp(object->text[0], "index") || strcmp(object->text[2], table->object->text[1])) continue;
    if (table->indexes == MOST_COLUMNS) end(2, "too many indexes of ", table->object->text[1]);
    Index *index = table->index + table->indexes++;
    index->object = object;
    row = ask("SELECT cid, \"desc\" FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno", object->text[1]);
    for (index->isPacked = 1; sqlite3_step(row) == SQLITE_ROW; index->keys++) {
      int at = 0;
      while (table->column[at].column != sqlite3_column_int(row, 0)) at++;
      index->column[index->keys] = at;
      index->isDescending[index->keys] = sqlite3_column_int(row, 1);
      index->isPacked &= table->column[at].isInteger && index->keys < 7;
    }
    sqlite3_finalize(row);
  }
}

/// The objects of the schema, in order.
static Object *readObjects(int *count) {
  sqlite3_stmt *row = ask("SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema ORDER BY rowid", "");
  Object *objects = 0;
  for (*count = 0; sqlite3_step(row) == SQLITE_ROW; ++*count) {
    objects = realloc(objects, sizeof(Object) * ((size_t)*count + 1));
    for (int i = 0; i < 4; i++) objects[*count].text[i] = word(row, i);
    objects[*count].root = (uint32_t)sqlite3_column_int64(row, 4);
  }
  sqlite3_finalize(row);
  return objects;
}

static void addObject(Tree *tree, const Object *object, int number) {
  const Integer root = encoded(object->root);
  uint8_t made[1 << 16], types[50], *type = types + 1, head[18];
  size_t size = 0;
  whole.used = 0;
  for (int i = 0; i < 4; i++) {
    const size_t length = object->text[i] ? strlen(object->text[i]) : 0;
    if (i == 3) *type++ = (uint8_t)root.type;
    type = putVarint(type, object->text[i] ? 13 + 2 * length : 0);
    size += length;
  }
  types[0] = (uint8_t)(type - types);
  size += types[0] + root.size;
  reserve(&whole, size);
  uint8_t *to = whole.data + types[0];
  memcpy(whole.data, types, types[0]);
  for (int i = 0; i < 4; i++) {
    if (i == 3) { memcpy(to, root.body, 8); to += root.size; }
    if (object->text[i]) to = (uint8_t *)memcpy(to, object->text[i], strlen(object->text[i])) + strlen(object->text[i]);
  }
  const size_t start = (size_t)(putVarint(putVarint(head, size), (uint64_t)number) - head);
  if (size > most(1)) { addRow(tree, made, putLong(made, head, start, whole.data, size, 1), number - 1); return; }
  memcpy(made, head, start);
  memcpy(made + start, whole.data, size);
  addRow(tree, made, start + size, number - 1);
}

/// Page 1: the header of the file and the schema, or where the schema is.
static void addSchema(Tree *tree, const Object *objects, int count) {
  static uint8_t first[1 << 16];
  begin(tree, 1);
  for (int i = 0; i < count; i++) addObject(tree, objects + i, i + 1);
  Page *page = tree->level;
  if (!tree->height && 108 + 2 * page->cells <= page->start) {
    memcpy(first + 108, page->bytes + 8, 2 * page->cells);
    memcpy(first + page->start, page->bytes + page->start, pageSize - page->start);
    putHeader(first + 100, page, 1, 1);
  } else {
    const Page above = {.start = pageSize, .right = finish(tree)};
    putHeader(first + 100, &above, 1, 0);
  }
  memcpy(first, source, 100);
  first[18] = first[19] = 1;
  first[20] = 0;
  put32(first + 28, next - 1);
  memset(first + 32, 0, 8);
  memset(first + 52, 0, 4);
  memset(first + 64, 0, 4);
  memcpy(first + 92, first + 24, 4);
  flush();
  if (pwrite(output, first, pageSize, 0) != (ssize_t)pageSize) end(1, "the output cannot be written", "");
}
