// The proof: the output is read once more.
#include "indexes.h"

static const uint8_t *outputPage(uint32_t number, int window) {
  static uint8_t *data[2];
  static off_t places[2] = {-1, -1};
  if (!data[window]) data[window] = malloc(READ + SLACK);
  const off_t place = (off_t)(number - 1) * (off_t)pageSize, start = place & ~(off_t)(READ - 1);
  if (places[window] != start && pread(output, data[window], READ, start) <= place - start) end(1, "the output cannot be read", "");
  places[window] = start;
  return data[window] + (place - start);
}
static const uint8_t *overflowPage(uint32_t number) { return outputPage(number, 1); }

static void check(Index *index, const uint8_t *cell) {
  uint64_t payload, rowid = 0;
  const uint8_t *record = getVarint(cell, &payload);
  if (!index) record = getVarint(record, &rowid);
  if (payload > most(!index)) record = assemble(record, payload, !index, overflowPage);
  if (!index) { rowSum -= hash(record, payload, rowid); return; }
  if (!index->isPacked) { index->sum -= hash(record, payload, 0); return; }
  int64_t values[MOST_KEYS + 1] = {0};
  if (record[0] != index->keys + 2) end(1, "an entry has other columns: ", index->object->text[1]);
  const uint8_t *body = record + record[0];
  for (int i = 0; i <= index->keys; i++) {
    values[i] = integer(record[1 + i], body);
    body += sizes[record[1 + i] & 127];
  }
  uint64_t mixed = (uint64_t)values[index->keys];
  for (int key = 0; key < index->keys; key++) mixed = mix(mixed, values[key]);
  index->sum -= mixed;
}

static void checkTree(Index *index, uint32_t number, int isLeaf) {
  uint8_t own[1 << 16];
  const uint8_t *page = own;
  const off_t place = (off_t)(number - 1) * (off_t)pageSize;
  if (isLeaf) page = outputPage(number, 0);
  else if (pread(output, own, pageSize, place) != (ssize_t)pageSize) end(1, "the output cannot be read", "");
  const int base = index ? 2 : 5;
  if (*page == base + 8)
    for (size_t i = 0; i < get16(page + 3); i++) check(index, page + get16(page + 8 + 2 * i));
  if (*page == base + 8) return;
  if (*page != base) end(1, "a page of the output is of another kind", "");
  uint8_t below;
  if (pread(output, &below, 1, (off_t)(get32(page + 8) - 1) * (off_t)pageSize) != 1) end(1, "the output cannot be read", "");
  for (size_t i = 0; i < get16(page + 3); i++) {
    const uint8_t *cell = page + get16(page + 12 + 2 * i);
    checkTree(index, get32(cell), below == base + 8);
    if (index) check(index, cell + 4);
  }
  checkTree(index, get32(page + 8), below == base + 8);
}
