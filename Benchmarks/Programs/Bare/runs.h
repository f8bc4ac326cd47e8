// Runs: with a bound of memory, entries are sorted in as many parts as there have to be, which are written to a file of no name.
#include "sorting.h"

typedef struct { const uint8_t *cell; size_t size, filled, room; uint8_t *data; off_t at, stop; } Run;

static void openRuns(Runs *runs) {
  char name[4096];
  if (snprintf(name, sizeof name, "%s.XXXXXX", outputName) >= (int)sizeof name) end(1, "the name is too long: ", outputName);
  runs->file = mkstemp(name);
  if (runs->file < 0 || unlink(name)) end(1, "cannot be opened: ", name);
}

/// The last run goes on where the entries come after all of it.
static void beginRun(Runs *runs, int goesOn) {
  if (!runs->file) openRuns(runs);
  if (goesOn) return;
  if (runs->count == MOST_RUNS) end(2, "too little memory for so many entries", "");
  runs->stop[runs->count] = runs->count ? runs->stop[runs->count - 1] : 0;
  runs->count++;
}

static void putRun(Runs *runs, const uint8_t *bytes, size_t size) {
  off_t *stop = runs->stop + runs->count - 1;
  while (size) {
    const ssize_t done = pwrite(runs->file, bytes, size, *stop);
    if (done <= 0) end(1, "a run cannot be written", "");
    bytes += done;
    size -= (size_t)done;
    *stop += done;
  }
}

static inline size_t sizeOfCell(const uint8_t *cell) {
  uint64_t payload;
  return (size_t)(getVarint(cell, &payload) - cell) + payload;
}

/// Where the entries in memory are, in their order; the bits of words that tell it.
static uint64_t sortCells(const Index *index) {
  const size_t count = index->entries;
  const int low = width(index->cells.used);
  reserve(&items, count * 8);
  reserve(&spare, count * 8);
  uint64_t *words = (uint64_t *)items.data, at = BEFORE;
  for (size_t i = 0; i < count; i++, at += sizeOfCell(index->cells.data + at)) words[i] = at;
  sortEntries(index, words, count, low, 0, CLASS);
  return (1ULL << low) - 1;
}

/// The memory of the entries is fetched before they are needed.
static inline const uint8_t *cellAt(const Index *index, size_t i, uint64_t mask) {
  const uint64_t *words = (uint64_t *)items.data;
  if (i + 16 < index->entries) {
    const uint8_t *later = index->cells.data + (words[i + 16] & mask);
    __builtin_prefetch(later);
    __builtin_prefetch(later + 40);
  }
  return index->cells.data + (words[i] & mask);
}

/// The entries in memory become a run.
static void addRun(Index *index) {
  static Buffer put;
  Runs *runs = index->runs;
  const uint64_t mask = sortCells(index);
  const uint8_t *cell = cellAt(index, 0, mask);
  size_t size = 0;
  beginRun(runs, runs->count && !isAfter(index, runs->last + BEFORE, cell, 0, CLASS));
  for (size_t i = 0; i < index->entries; i++) {
    cell = cellAt(index, i, mask);
    size = sizeOfCell(cell);
    reserve(&put, size);
    copy(put.data + put.used, cell, size);
    if ((put.used += size) < PUT && i + 1 < index->entries) continue;
    putRun(runs, put.data, put.used);
    put.used = 0;
  }
  runs->last = realloc(runs->last, BEFORE + size + SLACK);
  memcpy(runs->last + BEFORE, cell, size);
  index->cells.used = BEFORE;
  index->entries = 0;
}

/// What comes after this entry in a run; the entry itself stays in memory.
static void fill(int file, Run *run) {
  const uint8_t *kept = run->cell;
  const size_t size = (size_t)(run->data + run->filled - kept), here = BEFORE + size;
  if (here + GOT + SLACK > run->room) {
    uint8_t *data = malloc(run->room = here + GOT + SLACK);
    memcpy(data + BEFORE, kept, size);
    free(run->data);
    run->data = data;
  } else {
    memmove(run->data + BEFORE, kept, size);
  }
  const size_t wanted = run->stop - run->at < GOT ? (size_t)(run->stop - run->at) : GOT;
  if (pread(file, run->data + here, wanted, run->at) != (ssize_t)wanted) end(1, "a run cannot be read", "");
  run->at += (off_t)wanted;
  run->filled = here + wanted;
  run->cell = run->data + BEFORE;
}

/// The entry after this one, which stays in memory, or 0 at the end of the run.
static inline const uint8_t *after(int file, Run *run, int isWord, size_t *size) {
  for (;;) {
    const uint8_t *cell = run->cell + run->size;
    const size_t here = (size_t)(run->data + run->filled - cell);
    *size = isWord ? 8 : here ? sizeOfCell(cell) : 1;
    if (*size <= here) return cell;
    if (run->at == run->stop) return 0;
    fill(file, run);
  }
}
