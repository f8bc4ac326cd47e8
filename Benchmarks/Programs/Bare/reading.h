// The rows of another store: it is the least that anybody does who makes new rows of them.
#include "schema.h"

/// What is read adds up here, so that it is read.
static volatile uint64_t seen;

/// Numbers are decoded, and of texts all lines of memory are read; without branches, as types cannot be foreseen.
static inline uint64_t sumOfRecord(const uint8_t *record) {
  static const uint8_t bits[12] = {0, 56, 48, 40, 32, 16};  // Of eight bytes, before a number.
  uint64_t header, type, sum = 0;
  const uint8_t *at = getVarint(record, &header), *stop = record + header, *body = stop;
  while (at < stop) {
    type = *at++;
    if (type >= 128) at = getVarint(at - 1, &type);
    const uint64_t size = sizeOf(type), last = __builtin_bswap64(load(body + size - 8));
    const int shift = bits[type < 12 ? type : 0];
    sum += (uint64_t)((int64_t)(last << shift) >> shift) & -(uint64_t)(size > 0);
    sum += (uint64_t)(type == 9) + load(body);
    for (uint64_t line = 64; line < size; line += 64) sum += load(body + line);
    body += size;
  }
  return sum;
}

static void readRows(const uint8_t *page) {
  const size_t rows = get16(page + 3);
  uint64_t sum = 0;
  for (size_t row = 0; row < rows; row++) {
    uint64_t payload, rowid;
    fetchNext(page, row, rows);
    const uint8_t *record = getVarint(getVarint(page + get16(page + 8 + 2 * row), &payload), &rowid);
    if (payload > most(1)) record = assemble(record, payload, 1, sourcePage);
    sum += rowid + sumOfRecord(record);
  }
  seen += sum;
}

/// A store's pages become the source.
static size_t openSource(const char *name) {
  struct stat found;
  const int input = open(name, O_RDONLY);
  if (input < 0 || fstat(input, &found)) end(1, "cannot be opened: ", name);
  source = mmap(0, (size_t)found.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, input, 0);
  if (source == MAP_FAILED) end(1, "cannot be opened: ", name);
  close(input);
  pageSize = get16(source + 16) == 1 ? 65536 : get16(source + 16);
  if (source[20]) end(2, "pages have space that is reserved: ", name);
  return (size_t)found.st_size;
}

static void readStore(const char *name) {
  static Table table;
  int count;
  if (sqlite3_open_v2(name, &store, SQLITE_OPEN_READONLY, 0)) end(1, "cannot be opened: ", name);
  Object *objects = readObjects(&count);
  sqlite3_close(store);
  const size_t size = openSource(name);
  for (Object *object = objects; object < objects + count; object++) {
    table.object = object;
    if (!strcmp(object->text[0], "table") && object->root) addTree(&table, 0, object->root);
  }
  munmap((void *)source, size);
}
