// Indexes, of the rows of a table that has passed.
#include "merging.h"

typedef struct { int64_t least; uint64_t top; int bits, isDescending; } Field;

/// An entry of integers: less than 128 bytes.
static inline size_t putIntegers(uint8_t *to, const int64_t *values, int count) {
  uint8_t *body = to + 2 + count;
  to[1] = (uint8_t)(count + 1);
  for (int i = 0; i < count; i++) {
    const Integer value = encoded(values[i]);
    to[2 + i] = (uint8_t)value.type;
    memcpy(body, value.body, 8);
    body += value.size;
  }
  to[0] = (uint8_t)(body - to - 1);
  return (size_t)(body - to);
}

/// Keys of integers and rowids have one word each, if there is room: the number of their bits, or 0.
static int measure(const Table *table, const Index *index, Field *fields, size_t rows) {
  const int64_t *rowids = (int64_t *)table->rowids.data;
  fields[index->keys] = (Field){.least = rowids[0], .bits = width((uint64_t)(rowids[rows - 1] - rowids[0]))};
  int bits = fields[index->keys].bits;
  for (int key = 0; key < index->keys; key++) {
    const int64_t *of = (int64_t *)table->column[index->column[key]].words.data;
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (size_t i = 0; i < rows; i++) {
      if (of[i] != NONE && of[i] > greatest) greatest = of[i];
      if (of[i] != NONE && of[i] < least) least = of[i];
    }
    const uint64_t span = (uint64_t)greatest - (uint64_t)least, top = greatest < least ? 0 : span + 1;
    if (greatest >= least && span >> 62) return 0;
    fields[key] = (Field){least, top, width(top), index->isDescending[key]};
    bits += fields[key].bits;
  }
  return bits > 63 ? 0 : bits;
}

/// The words of some rows, sorted.
static uint64_t *pack(const Table *table, const Index *index, const Field *fields, size_t from, size_t rows, int bits) {
  const int64_t *rowids = (int64_t *)table->rowids.data + from;
  const Field last = fields[index->keys];
  uint64_t *words = (uint64_t *)items.data;
  size_t falls = 0;
  memset(words, 0, rows * 8);
  for (int key = 0; key < index->keys; key++) {
    const int64_t *of = (int64_t *)table->column[index->column[key]].words.data + from;
    const Field field = fields[key];
    for (size_t i = 0; i < rows; i++) {
      const uint64_t value = of[i] == NONE ? 0 : (uint64_t)of[i] - (uint64_t)field.least + 1;
      words[i] = words[i] << field.bits | (field.isDescending ? field.top - value : value);
    }
  }
  for (size_t i = 0; i < rows; i++) words[i] = words[i] << last.bits | (uint64_t)(rowids[i] - last.least);
  for (size_t i = 1; i < rows; i++) falls += words[i] < words[i - 1];
  if (falls) sortWords(words, rows, last.bits, bits - last.bits);
  return words;
}

static inline void addWord(const Index *index, Tree *tree, const Field *fields, uint64_t word, int isLast) {
  const Field last = fields[index->keys];
  uint8_t cell[160];
  int64_t values[MOST_KEYS + 1];
  values[index->keys] = last.least + (int64_t)(word & ((1ULL << last.bits) - 1));
  word >>= last.bits;
  for (int key = index->keys - 1; key >= 0; key--) {
    const uint64_t value = word & ((1ULL << fields[key].bits) - 1), kept = fields[key].isDescending ? fields[key].top - value : value;
    values[key] = kept ? (int64_t)(kept - 1 + (uint64_t)fields[key].least) : NONE;
    word >>= fields[key].bits;
  }
  addEntry(tree, cell, putIntegers(cell, values, index->keys + 1), isLast);
}

/// To sort a word takes another one.
static void addPacked(const Table *table, const Index *index, Tree *tree, const Field *fields, size_t rows, int bits) {
  const size_t room = share / 16 ? share / 16 : 1, most = rows < room ? rows : room;
  uint64_t last = UINT64_MAX;
  reserve(&items, most * 8);
  reserve(&spare, most * 8);
  if (most == rows) {
    const uint64_t *words = pack(table, index, fields, 0, rows, bits);
    for (size_t i = 0; i < rows; i++) addWord(index, tree, fields, words[i], i + 1 == rows);
    return;
  }
  for (size_t from = 0, count; from < rows; from += count) {
    count = rows - from < most ? rows - from : most;
    const uint64_t *words = pack(table, index, fields, from, count, bits);
    beginRun(index->runs, words[0] > last);
    putRun(index->runs, (const uint8_t *)words, count * 8);
    last = words[count - 1];
  }
  Merge *merge = startMerge(index, 1);
  for (size_t i = 0; i < rows; i++, goOn(merge)) addWord(index, tree, fields, load(least(merge)), i + 1 == rows);
}

static inline void addCell(Tree *tree, const uint8_t *cell, int isLast) {
  uint8_t made[1 << 16];
  uint64_t payload;
  const uint8_t *record = getVarint(cell, &payload);
  const size_t head = (size_t)(record - cell);
  if (payload <= most(0)) addEntry(tree, cell, head + payload, isLast);
  else addEntry(tree, made, putLong(made, cell, head, record, payload, 0), isLast);
}

static void addCells(Index *index, Tree *tree, size_t rows) {
  if (!index->runs->count) {
    const uint64_t mask = sortCells(index);
    for (size_t i = 0; i < rows; i++) addCell(tree, cellAt(index, i, mask), i + 1 == rows);
    return;
  }
  if (index->entries) addRun(index);
  Merge *merge = startMerge(index, 0);
  for (size_t i = 0; i < rows; i++, goOn(merge)) addCell(tree, least(merge), i + 1 == rows);
}

static uint32_t addIndex(Table *table, Index *index, Tree *tree) {
  const size_t rows = table->rowids.used / 8;
  Field fields[MOST_KEYS + 1];
  begin(tree, 0);
  const int bits = rows && index->isPacked ? measure(table, index, fields, rows) : 0;
  if (bits) { addPacked(table, index, tree, fields, rows, bits); return finish(tree); }
  for (int key = 0; index->isPacked && key < index->keys; key++) index->classes[key] = 3;  // NULL and numbers.
  for (size_t i = 0; index->isPacked && i < rows; i++) {
    int64_t values[MOST_KEYS + 1];
    for (int key = 0; key < index->keys; key++) values[key] = ((int64_t *)table->column[index->column[key]].words.data)[i];
    values[index->keys] = ((int64_t *)table->rowids.data)[i];
    reserve(&index->cells, 160);
    keepCell(index, putIntegers(index->cells.data + index->cells.used, values, index->keys + 1));
  }
  if (rows) addCells(index, tree, rows);
  return finish(tree);
}
