// Tables: rows as they are, and what indexes need of them.
#include "pages.h"

/// The indexed columns of a record.
static inline void decode(Table *table, const uint8_t *record) {
  uint64_t header, type;
  const uint8_t *at = getVarint(record, &header), *stop = record + header, *body = stop;
  Column *column = table->column, *last = column + table->columns;
  for (int number = 0; column < last; number++) {
    if (at >= stop) end(2, "a row lacks a column of ", table->object->text[1]);
    type = *at++;
    if (type >= 128) at = getVarint(at - 1, &type);
    const uint64_t size = sizeOf(type);
    if (number == column->column) {
      column->type = type;
      column->size = size;
      column++->body = body;
    }
    body += size;
  }
}

/// An entry, as a page has it: the size of the record, its header, the values and the rowid.
static inline uint8_t *putEntry(uint8_t *to, const Index *index, const Column *columns, const Integer *rowid) {
  uint8_t header[MOST_KEYS * 9 + 2], *types = header + 1;
  size_t payload = rowid->size;
  for (int key = 0; key < index->keys; key++) {
    types = putVarint(types, columns[index->column[key]].type);
    payload += columns[index->column[key]].size;
  }
  *types++ = (uint8_t)rowid->type;
  header[0] = (uint8_t)(types - header);
  to = putVarint(to, payload + header[0]);
  copy(to, header, header[0]);
  to += header[0];
  for (int key = 0; key < index->keys; key++) {
    const Column *column = columns + index->column[key];
    copy(to, column->body, column->size);
    to += column->size;
  }
  memcpy(to, rowid->body, 8);
  return to + rowid->size;
}

static inline int classOf(uint64_t type) { return type == 0 ? 0 : type < 12 ? 1 : type & 1 ? 2 : 3; }

/// The rowid and the integers of a row, as words.
static inline void collectWords(Table *table, const Integer *own, int64_t rowid) {
  push(&table->rowids, rowid);
  for (Column *column = table->column, *last = column + table->columns; column < last; column++) {
    if (column->column == table->alias) column->type = (uint64_t)own->type, column->size = own->size, column->body = own->body;
    if (!column->isInteger) continue;
    const int64_t word = integer(column->type < 12 ? column->type : 0, column->body);
    if (column->type == 7 || column->type > 9 || (word == NONE && column->type))
      end(2, "another value in an INTEGER column of ", table->object->text[1]);
    push(&column->words, word);
  }
}

static inline uint64_t sumOfWords(const Table *table, const Index *index, int64_t rowid) {
  uint64_t mixed = (uint64_t)rowid;
  for (int key = 0; key < index->keys; key++) {
    const Buffer *words = &table->column[index->column[key]].words;
    mixed = mix(mixed, (int64_t)load(words->data + words->used - 8));
  }
  return mixed;
}

static void addRun(Index *index);  // In runs.h.

/// An entry is after the others: where all have no room, the others become a run. To sort an entry takes two words.
static inline void keepCell(Index *index, size_t size) {
  if (index->entries && index->cells.used + size + 16 * (index->entries + 1) > share) {
    const uint8_t *cell = index->cells.data + index->cells.used;
    addRun(index);
    memmove(index->cells.data + BEFORE, cell, size);
  }
  index->cells.used += size;
  index->entries++;
}

static inline void collectCell(const Table *table, Index *index, const Integer *own) {
  uint8_t *cell = index->cells.data + index->cells.used, *stop = putEntry(cell, index, table->column, own);
  uint64_t size;
  const uint8_t *record = getVarint(cell, &size);
  for (int key = 0; key < index->keys; key++) index->classes[key] |= 1 << classOf(table->column[index->column[key]].type);
  if (isProved) index->sum += hash(record, size, 0);
  keepCell(index, (size_t)(stop - cell));
}

static inline void collect(Table *table, const uint8_t *record, int64_t rowid) {
  const Integer own = encoded(rowid);
  decode(table, record);
  collectWords(table, &own, rowid);
  for (Index *index = table->index, *last = index + table->indexes; index < last; index++) {
    if (!index->isPacked) collectCell(table, index, &own);
    else if (isProved) index->sum += sumOfWords(table, index, rowid);
  }
}

static const uint8_t *sourcePage(uint32_t number) { return source + (size_t)(number - 1) * pageSize; }

/// A record that goes on in overflow pages, whole.
static const uint8_t *assemble(const uint8_t *start, uint64_t payload, int isTable, const uint8_t *(*pageAt)(uint32_t)) {
  const size_t first = local(payload, isTable);
  whole.used = 0;
  reserve(&whole, payload + 8);
  uint8_t *to = whole.data + 8;
  memcpy(to, start, first);
  uint32_t number = get32(start + first);
  for (size_t at = first; at < payload;) {
    const size_t part = payload - at < pageSize - 4 ? payload - at : pageSize - 4;
    const uint8_t *page = pageAt(number);
    memcpy(to + at, page + 4, part);
    number = get32(page);
    at += part;
  }
  return to;
}

/// A cell whose record is in memory and too long for a page.
static size_t putLong(uint8_t *to, const uint8_t *head, size_t size, const uint8_t *record, uint64_t payload, int isTable) {
  const size_t kept = local(payload, isTable);
  memcpy(to, head, size);
  memcpy(to + size, record, kept);
  put32(to + size + kept, chain(record + kept, payload - kept));
  return size + kept + 4;
}

static void reserveRows(Table *table, size_t rows, uint64_t bytes) {
  reserve(&table->rowids, rows * 8);
  for (int i = 0; i < table->columns; i++) reserve(&table->column[i].words, rows * 8);
  for (int i = 0; i < table->indexes; i++) reserve(&table->index[i].cells, MOST_KEYS * bytes + rows * (MOST_KEYS * 9 + 24));
}

static void addRows(Table *table, Tree *tree, const uint8_t *page) {
  static int64_t before;
  uint8_t made[1 << 16];
  const size_t rows = get16(page + 3);
  if (table->indexes) reserveRows(table, rows, pageSize);
  for (size_t row = 0; row < rows; row++) {
    const uint8_t *cell = page + get16(page + 8 + 2 * row);
    uint64_t payload, rowid;
    fetchNext(page, row, rows);
    const uint8_t *record = getVarint(getVarint(cell, &payload), &rowid);
    const size_t head = (size_t)(record - cell);
    if (payload <= most(1)) {
      addRow(tree, cell, head + payload, before);
    } else {
      record = assemble(record, payload, 1, sourcePage);
      addRow(tree, made, putLong(made, cell, head, record, payload, 1), before);
      if (table->indexes) reserveRows(table, rows, payload);
    }
    if (isProved) rowSum += hash(record, payload, rowid);
    if (table->indexes) collect(table, record, (int64_t)rowid);
    before = (int64_t)rowid;
  }
}

static void readRows(const uint8_t *page);  // In reading.h.

/// Without a tree to add them to, rows are only read.
static void addTree(Table *table, Tree *tree, uint32_t number) {
  const uint8_t *page = sourcePage(number);
  if (*page == 13) { tree ? addRows(table, tree, page) : readRows(page); return; }
  if (*page != 5) end(2, "no page of a table in ", table->object->text[1]);
  for (size_t cell = 0; cell < get16(page + 3); cell++) addTree(table, tree, get32(page + get16(page + 12 + 2 * cell)));
  addTree(table, tree, get32(page + 8));
}
