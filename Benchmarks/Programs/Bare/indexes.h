// Indexes, of the rows of a table that has passed.
#include "sorting.h"

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

/// Puts keys of integers and rowids into one word each, if there is room: the number of their bits, or 0.
static int pack(const Table *table, const Index *index, Field *fields, size_t rows) {
  const int64_t *rowids = (int64_t *)table->rowids.data;
  uint64_t *words = (uint64_t *)items.data;
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
  if (bits > 63) return 0;
  memset(words, 0, rows * 8);
  for (int key = 0; key < index->keys; key++) {
    const int64_t *of = (int64_t *)table->column[index->column[key]].words.data;
    const Field field = fields[key];
    for (size_t i = 0; i < rows; i++) {
      const uint64_t value = of[i] == NONE ? 0 : (uint64_t)of[i] - (uint64_t)field.least + 1;
      words[i] = words[i] << field.bits | (field.isDescending ? field.top - value : value);
    }
  }
  for (size_t i = 0; i < rows; i++) words[i] = words[i] << fields[index->keys].bits | (uint64_t)(rowids[i] - rowids[0]);
  return bits;
}

static void addPacked(const Index *index, Tree *tree, const Field *fields, size_t rows, int bits) {
  uint64_t *words = (uint64_t *)items.data;
  const Field last = fields[index->keys];
  uint8_t cell[160];
  int64_t values[MOST_KEYS + 1];
  size_t falls = 0;
  for (size_t i = 1; i < rows; i++) falls += words[i] < words[i - 1];
  if (falls) sortWords(words, rows, last.bits, bits - last.bits);
  for (size_t i = 0; i < rows; i++) {
    uint64_t word = words[i];
    values[index->keys] = last.least + (int64_t)(word & ((1ULL << last.bits) - 1));
    word >>= last.bits;
    for (int key = index->keys - 1; key >= 0; key--) {
      const uint64_t value = word & ((1ULL << fields[key].bits) - 1), kept = fields[key].isDescending ? fields[key].top - value : value;
      values[key] = kept ? (int64_t)(kept - 1 + (uint64_t)fields[key].least) : NONE;
      word >>= fields[key].bits;
    }
    addEntry(tree, cell, putIntegers(cell, values, index->keys + 1), i + 1 == rows);
  }
}

static void addCells(const Index *index, Tree *tree, size_t rows) {
  uint64_t *words = (uint64_t *)items.data, at = BEFORE, payload;
  const int low = width(index->cells.used);
  const uint64_t mask = (1ULL << low) - 1;
  uint8_t made[1 << 16];
  for (size_t i = 0; i < rows; i++) {
    words[i] = at;
    at = (uint64_t)(getVarint(index->cells.data + at, &payload) - index->cells.data) + payload;
  }
  sortEntries(index, words, rows, low, 0, CLASS);
  for (size_t i = 0; i < rows; i++) {
    if (i + 16 < rows) {
      const uint8_t *later = index->cells.data + (words[i + 16] & mask);
      __builtin_prefetch(later);
      __builtin_prefetch(later + 40);
    }
    const uint8_t *cell = index->cells.data + (words[i] & mask), *record = getVarint(cell, &payload);
    const size_t head = (size_t)(record - cell);
    if (payload <= most(0)) addEntry(tree, cell, head + payload, i + 1 == rows);
    else addEntry(tree, made, putLong(made, cell, head, record, payload, 0), i + 1 == rows);
  }
}

static uint32_t addIndex(Table *table, Index *index, Tree *tree) {
  const size_t rows = table->rowids.used / 8;
  Field fields[MOST_KEYS + 1];
  begin(tree, 0);
  items.used = spare.used = 0;
  reserve(&items, rows * 8);
  reserve(&spare, rows * 8);
  const int bits = rows && index->isPacked ? pack(table, index, fields, rows) : 0;
  if (bits) { addPacked(index, tree, fields, rows, bits); return finish(tree); }
  for (size_t i = 0; index->isPacked && i < rows; i++) {
    int64_t values[MOST_KEYS + 1];
    for (int key = 0; key < index->keys; key++) values[key] = ((int64_t *)table->column[index->column[key]].words.data)[i];
    values[index->keys] = ((int64_t *)table->rowids.data)[i];
    reserve(&index->cells, 160);
    index->cells.used += putIntegers(index->cells.data + index->cells.used, values, index->keys + 1);
  }
  for (int key = 0; index->isPacked && key < index->keys; key++) index->classes[key] = 3;  // NULL and numbers.
  addCells(index, tree, rows);
  return finish(tree);
}
