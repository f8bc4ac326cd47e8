// bare [--proof] [--source STORE] [--memory BYTES] RESULT OUTPUT: writes the tables, rows and indexes of the store RESULT into a new SQLite
// database, and nothing more. It is what the file format alone forces on anybody who writes them: it knows no models and transforms nothing,
// checks nothing, cannot be resumed, takes as much memory as it likes and does not sync. With --proof it reads OUTPUT once more: sums of
// hashes show that the rows are those of RESULT, and that each index has an entry for each of them. With --source it reads all rows of
// STORE before, with all of their values. With --memory entries are sorted in so many bytes, which the indexes of a table share: what does
// not fit is sorted in runs on disk. That is less than a bound of memory takes: the integers of a table's indexed columns and its rowids
// stay in memory all the same. It ends with 2 for what it does not know, 1 for a fault.
#include "reading.h"

static void openFiles(const char *result) {
  openSource(result);
  output = open(outputName, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (output < 0) end(1, "cannot be opened: ", outputName);
  lockPage = (uint32_t)((1 << 30) / pageSize + 1);
  piece = malloc(PIECE);
  if (lseek(output, (off_t)pageSize, SEEK_SET) < 0) end(1, "cannot be written: ", outputName);
}

static void prepare(void) {
  for (int i = 0; i < 128; i++) sizes[i] = i < 12 ? (uint8_t[]){0, 1, 2, 3, 4, 6, 8, 8}[i < 8 ? i : 0] : (uint8_t)((i - 12) / 2);
  uint64_t state = 7;
  for (size_t i = 0; i < sizeof keys / 8; i++) keys[i] = (state = mix(state, (int64_t)i + 1)) | 1;
}

/// Buffers are those of the tables before: memory that is there already. So are files of runs.
static void addTable(Table *table, Tree *tree) {
  static Buffer kept[3][MOST_COLUMNS];
  static Runs runs[MOST_COLUMNS];
  for (int i = 0; i < table->columns; i++) table->column[i].words = kept[0][i];
  for (int i = 0; i < table->indexes; i++) table->index[i].cells = kept[1][i], table->index[i].cells.used = BEFORE;
  for (int i = 0; i < table->indexes; i++) table->index[i].runs = runs + i, runs[i].count = 0;
  share = table->indexes ? memory / (size_t)table->indexes : 0;
  table->rowids = kept[2][0];
  begin(tree, 1);
  addTree(table, tree, table->object->root);
  table->object->root = finish(tree);
  for (int i = 0; i < table->indexes; i++)
    if (runs[i].count) addRun(table->index + i);  // Merging has the memory.
  for (int i = 0; i < table->indexes; i++) table->index[i].object->root = addIndex(table, table->index + i, tree);
  for (int i = 0; i < table->columns; i++) kept[0][i] = table->column[i].words, kept[0][i].used = 0;
  for (int i = 0; i < table->indexes; i++) kept[1][i] = table->index[i].cells;
  kept[2][0] = table->rowids;
  kept[2][0].used = 0;
}

/// Options, in any order; gives the first word after them.
static int readOptions(int words, char **word, const char **from) {
  int at = 1;
  for (; at < words && !strncmp(word[at], "--", 2); at++) {
    if (!strcmp(word[at], "--proof")) isProved = 1;
    else if (!strcmp(word[at], "--source") && at + 1 < words) *from = word[++at];
    else if (!strcmp(word[at], "--memory") && at + 1 < words) memory = strtoull(word[++at], 0, 10);
    else break;
  }
  if (words != at + 2) end(64, "usage: bare [--proof] [--source STORE] [--memory BYTES] RESULT OUTPUT", "");
  return at;
}

static void prove(const Table *table, int tables, const char *result) {
  for (int i = 0; i < tables; i++) {
    checkTree(0, table[i].object->root, 0);
    for (Index *index = table[i].index; index < table[i].index + table[i].indexes; index++) {
      checkTree(index, index->object->root, 0);
      if (index->sum) end(1, "the entries are not those of the rows: ", index->object->text[1]);
    }
  }
  if (rowSum) end(1, "the rows are not those of ", result);
}

int main(int words, char **word) {
  static Tree tree;
  const char *from = 0;
  int count, tables = 0;
  const int at = readOptions(words, word, &from);
  const char *result = word[at];
  outputName = word[at + 1];
  prepare();
  if (from) readStore(from);
  if (sqlite3_open_v2(result, &store, SQLITE_OPEN_READONLY, 0)) end(1, "cannot be opened: ", result);
  refuse();
  Object *objects = readObjects(&count);
  Table *table = calloc((size_t)count + 1, sizeof(Table));
  for (int i = 0; i < count; i++)
    if (!strcmp(objects[i].text[0], "table")) (table[tables].object = objects + i, readTable(table + tables++, objects, count));
  sqlite3_close(store);
  openFiles(result);
  for (int level = 0; level < DEPTH; level++) tree.level[level].bytes = malloc(pageSize);
  for (int i = 0; i < tables; i++) addTable(table + i, &tree);
  addSchema(&tree, objects, count);
  if (isProved) prove(table, tables, result);
  return 0;
}
