// Pages of B-trees, written in the order in which they are full.
#include "numbers.h"

static void flush(void) {
  for (size_t at = 0; at < filled;) {
    const ssize_t done = write(output, piece + at, filled - at);
    if (done <= 0) end(1, "the output cannot be written", "");
    at += (size_t)done;
  }
  filled = 0;
}
static inline uint8_t *newPage(void) {
  if (filled == PIECE) flush();
  filled += pageSize;
  next++;
  return piece + filled - pageSize;
}
/// The number of the page that comes next: SQLite leaves the one out that it locks.
static uint32_t upcoming(void) {
  if (next == lockPage) memset(newPage(), 0, pageSize);
  return next;
}

/// Pages mostly follow one another: with each row of a page a part of the next one is fetched. A call that only fetches would be left out.
__attribute__((always_inline)) static inline void fetchNext(const uint8_t *page, size_t row, size_t rows) {
  const size_t part = pageSize / rows + 64;
  for (size_t at = row * part; at < (row + 1) * part; at += 64) __builtin_prefetch(page + pageSize + at);
}

static uint32_t chain(const uint8_t *rest, size_t size) {
  const uint32_t first = upcoming();
  while (size) {
    const size_t part = size < pageSize - 4 ? size : pageSize - 4;
    const uint32_t after = upcoming() + 1;
    uint8_t *to = newPage();
    size -= part;
    put32(to, size ? after + (after == lockPage) : 0);
    memcpy(to + 4, rest, part);
    memset(to + 4 + part, 0, pageSize - 4 - part);
    rest += part;
  }
  return first;
}

static size_t most(int isTable) { return isTable ? pageSize - 35 : (pageSize - 12) * 64 / 255 - 23; }
static size_t local(size_t payload, int isTable) {
  const size_t least = (pageSize - 12) * 32 / 255 - 23, kept = least + (payload - least) % (pageSize - 4);
  return payload <= most(isTable) ? payload : kept <= most(isTable) ? kept : least;
}

static void begin(Tree *tree, int isTable) {
  tree->isTable = isTable;
  for (int level = tree->height = 0; level < DEPTH; level++) tree->level[level].start = pageSize, tree->level[level].cells = 0;
}

static void putHeader(uint8_t *at, const Page *page, int isTable, int isLeaf) {
  *at = (uint8_t)((isTable ? 5 : 2) + (isLeaf ? 8 : 0));
  put16(at + 1, 0);
  put16(at + 3, page->cells);
  put16(at + 5, page->start);
  at[7] = 0;
  if (!isLeaf) put32(at + 8, page->right);
}

static uint32_t finishPage(Tree *tree, int level) {
  Page *page = &tree->level[level];
  const size_t pointers = (level ? 12 : 8) + 2 * page->cells;
  putHeader(page->bytes, page, tree->isTable, !level);
  memset(page->bytes + pointers, 0, page->start - pointers);
  const uint32_t number = upcoming();
  memcpy(newPage(), page->bytes, pageSize);
  page->start = pageSize;
  page->cells = 0;
  return number;
}

static inline int fits(const Page *page, size_t header, size_t size) { return header + 2 * page->cells + 2 + size <= page->start; }
static inline void place(Page *page, size_t header, const uint8_t *cell, size_t size) {
  page->start -= page->last = size;
  put16(page->bytes + header + 2 * page->cells++, page->start);
  copy(page->bytes + page->start, cell, size);
}

/// A page that is full, and what divides it from its neighbour. Of interior pages, and of an index's last leaf but one, the last cell
/// moves up, so that none stays without a cell.
static void addAbove(Tree *tree, int level, const uint8_t *divider, size_t size) {
  uint8_t cell[1 << 16];
  Page *page = &tree->level[level], *above = page + 1;
  if (!divider) {
    const uint8_t *last = page->bytes + page->start;
    const size_t skipped = level ? 4 : 0;
    page->right = get32(last);
    size = page->last - skipped;
    memcpy(cell + 4, last + skipped, size);
    page->cells--;
    page->start += page->last;
  } else {
    memcpy(cell + 4, divider, size);
  }
  put32(cell, finishPage(tree, level));
  if (tree->height == level) tree->height++;
  if (!fits(above, 12, size + 4)) addAbove(tree, level + 1, 0, 0);
  place(above, 12, cell, size + 4);
}

static inline void addRow(Tree *tree, const uint8_t *cell, size_t size, int64_t before) {
  uint8_t key[9];
  if (!fits(tree->level, 8, size)) addAbove(tree, 0, key, (size_t)(putVarint(key, (uint64_t)before) - key));
  place(tree->level, 8, cell, size);
}
static inline void addEntry(Tree *tree, const uint8_t *cell, size_t size, int isLast) {
  if (!fits(tree->level, 8, size)) {
    if (!isLast) { addAbove(tree, 0, cell, size); return; }
    addAbove(tree, 0, 0, 0);
  }
  place(tree->level, 8, cell, size);
}

static uint32_t finish(Tree *tree) {
  uint32_t child = finishPage(tree, 0);
  for (int level = 1; level <= tree->height; level++) {
    tree->level[level].right = child;
    child = finishPage(tree, level);
  }
  return child;
}
