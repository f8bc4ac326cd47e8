// bare [--proof] RESULT OUTPUT: writes the tables, rows and indexes of the store RESULT into a new SQLite database, and nothing more. It is
// what the file format alone forces on anybody who writes them: it knows no models and transforms nothing, checks nothing, cannot be
// resumed, takes as much memory as it likes and does not sync. With --proof it reads OUTPUT once more: sums of hashes show that the rows
// are those of RESULT, and that each index has an entry for each of them. It ends with 2 for what it does not know, 1 for a fault.
#include "schema.h"

static void openFiles(const char *result, const char *made) {
  struct stat found;
  const int input = open(result, O_RDONLY);
  if (input < 0 || fstat(input, &found)) end(1, "cannot be opened: ", result);
  source = mmap(0, (size_t)found.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, input, 0);
  output = open(made, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (source == MAP_FAILED || output < 0) end(1, "cannot be opened: ", output < 0 ? made : result);
  pageSize = get16(source + 16) == 1 ? 65536 : get16(source + 16);
  if (source[20]) end(2, "pages have space that is reserved: ", result);
  lockPage = (uint32_t)((1 << 30) / pageSize + 1);
  piece = malloc(PIECE);
  if (lseek(output, (off_t)pageSize, SEEK_SET) < 0) end(1, "cannot be written: ", made);
  for (int i = 0; i < 128; i++) sizes[i] = i < 12 ? (uint8_t[]){0, 1, 2, 3, 4, 6, 8, 8}[i < 8 ? i : 0] : (uint8_t)((i - 12) / 2);
  uint64_t state = 7;
  for (size_t i = 0; i < sizeof keys / 8; i++) keys[i] = (state = mix(state, (int64_t)i + 1)) | 1;
}

/// Buffers are those of the tables before: memory that is there already.
static void addTable(Table *table, Tree *tree) {
  static Buffer kept[3][MOST_COLUMNS];
  for (int i = 0; i < table->columns; i++) table->column[i].words = kept[0][i];
  for (int i = 0; i < table->indexes; i++) table->index[i].cells = kept[1][i], table->index[i].cells.used = BEFORE;

  table->rowids = kept[2][0];
  begin(tree, 1);
  addTree(table, tree, table->object->root);
  table->object->root = finish(tree);
  for (int i = 0; i < table->indexes; i++) table->index[i].object->root = addIndex(table, table->index + i, tree);
  for (int i = 0; i < table->columns; i++) kept[0][i] = table->column[i].words, kept[0][i].used = 0;
  for (int i = 0; i < table->indexes; i++) kept[1][i] = table->index[i].cells;
  kept[2][0] = table->rowids;
  kept[2][0].used = 0;
}

int main(int words, char **word) {
  static Tree tree;
  int count, tables = 0;
  isProved = words == 4 && !strcmp(word[1], "--proof");
  if (words != 3 + isProved) end(64, "usage: bare [--proof] RESULT OUTPUT", "");
  const char *result = word[1 + isProved];
  if (sqlite3_open_v2(result, &store, SQLITE_OPEN_READONLY, 0)) end(1, "cannot be opened: ", result);
  refuse();
  Object *objects = readObjects(&count);
  Table *table = calloc((size_t)count + 1, sizeof(Table));
  for (int i = 0; i < count; i++)
    if (!strcmp(objects[i].text[0], "table")) (table[tables].object = objects + i, readTable(table + tables++, objects, count));
  sqlite3_close(store);
  openFiles(result, word[2 + isProved]);
  for (int level = 0; level < DEPTH; level++) tree.level[level].bytes = malloc(pageSize);
  for (int i = 0; i < tables; i++) addTable(table + i, &tree);
  addSchema(&tree, objects, count);
  for (int i = 0; isProved && i < tables; i++) {
    checkTree(0, table[i].object->root, 0);
    for (Index *index = table[i].index; index < table[i].index + table[i].indexes; index++) {
      checkTree(index, index->object->root, 0);
      if (index->sum) end(1, "the entries are not those of the rows: ", index->object->text[1]);
    }
  }
  if (rowSum) end(1, "the rows are not those of ", result);
  return 0;
}
