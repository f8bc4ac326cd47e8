// Merging runs: a tree of losers. Each entry has a place and a word: the first part in which it differs from the entry that won last, and
// that part of it. Of two entries the one that differs later is the lesser, and of those that differ in the same part the one with the
// lesser word. So entries themselves are hardly ever compared. Integers that are packed are their own words.
#include "runs.h"

typedef struct { uint64_t place, word; } Code;
typedef struct { const Index *index; int isPacked; Run run[MOST_RUNS]; Code code[MOST_RUNS]; uint32_t node[MOST_RUNS], winner; } Merge;

static const uint64_t LAST = UINT32_MAX;  // The place of what is left of a value; places are counted by 2^32 for each key.
static const uint64_t FIRST = 1ULL << 62, DONE = UINT64_MAX;  // The first place of all, from which others count down; no entry any more.

static inline int isEqual(Code a, Code b) { return a.place == b.place && a.word == b.word; }
static inline int isLess(Code a, Code b) { return a.place < b.place || (a.place == b.place && a.word < b.word); }

/// As below, of texts and blobs.
static inline uint64_t differsInText(const uint8_t *a, size_t sizeA, const uint8_t *b, size_t sizeB, uint64_t from, uint64_t *words) {
  const size_t both = sizeA < sizeB ? sizeA : sizeB, longest = sizeA < sizeB ? sizeB : sizeA;
  size_t at = from ? 8 * (from - 1) : 0;
  while (at + 8 <= both && load(a + at) == load(b + at)) at += 8;
  for (; at < longest; at += 8) {
    const int part = (int)(at / 8 + 1);
    words[0] = partOfText(a, sizeA, part);
    words[1] = partOfText(b, sizeB, part);
    if (words[0] != words[1]) return (uint64_t)part;
  }
  words[0] = sizeA;
  words[1] = sizeB;
  return LAST;
}

/// The first part in which two values differ, from this one on, and what it is of each: they are equal if that is.
static inline uint64_t differs(uint64_t typeA, const uint8_t *a, uint64_t typeB, const uint8_t *b, uint64_t from, uint64_t *words) {
  const int class = classOf(typeA);
  words[0] = (uint64_t)class;
  words[1] = (uint64_t)classOf(typeB);
  if (words[0] != words[1] || class == 0) return CLASS;
  if (class > 1) return differsInText(a, sizeOf(typeA), b, sizeOf(typeB), from, words);
  for (int part = from < 2 ? 1 : REST;; part = REST) {
    words[0] = partOfNumber(typeA, a, part);
    words[1] = partOfNumber(typeB, b, part);
    if (part == REST || words[0] != words[1]) return part == REST ? LAST : 1;
  }
}

/// Gives each of two entries the place and the word in which they differ, from a place on; the place is 0 if they do not.
static inline void compare(const Index *index, const uint8_t *a, const uint8_t *b, uint64_t from, Code *one, Code *other) {
  uint64_t payload, typeA, typeB, words[2];
  const uint8_t *typesA = getVarint(a, &payload), *typesB = getVarint(b, &payload);
  a = typesA + *typesA;
  b = typesB + *typesB;
  typesA++;
  typesB++;
  for (uint64_t key = 0; key < (uint64_t)index->keys; key++, a += sizeOf(typeA), b += sizeOf(typeB)) {
    typesA = getVarint(typesA, &typeA);
    typesB = getVarint(typesB, &typeB);
    if (key < from >> 32) continue;
    const uint64_t place = FIRST - (key << 32 | differs(typeA, a, typeB, b, key == from >> 32 ? (uint32_t)from : 0, words));
    const uint64_t turned = index->isDescending[key] ? UINT64_MAX : 0;
    if (words[0] == words[1]) continue;
    *one = (Code){place, words[0] ^ turned};
    *other = (Code){place, words[1] ^ turned};
    return;
  }
  *one = *other = (Code){0};
}

/// Whether the first of two entries with the same place and word is the lesser. Equal ones are in the order of their rowids, as the runs are.
static int settle(Merge *merge, uint32_t a, uint32_t b) {
  Code one = merge->code[a], other = merge->code[b];
  if (one.place == DONE) return 0;
  if (one.place) compare(merge->index, merge->run[a].cell, merge->run[b].cell, FIRST - one.place + 1, &one, &other);
  const int isFirst = isEqual(one, other) ? a < b : isLess(one, other);
  if (isFirst) merge->code[b] = other;
  else merge->code[a] = one;
  return isFirst;
}

/// What wins from here on to the top of the tree; who loses stays. Without branches: they could not be foreseen.
static inline uint32_t play(Merge *merge, uint32_t winner, uint64_t node) {
  uint64_t place = merge->code[winner].place, word = merge->code[winner].word;
  for (; node; node /= 2) {
    const uint32_t other = merge->node[node];
    const uint64_t itsPlace = merge->code[other].place, itsWord = merge->code[other].word;
    int isFirst = ((unsigned __int128)itsPlace << 64 | itsWord) < ((unsigned __int128)place << 64 | word);
    if (__builtin_expect(place == itsPlace && word == itsWord, 0)) isFirst = settle(merge, other, winner);
    const uint64_t mask = -(uint64_t)isFirst;
    const uint32_t turned = (winner ^ other) & (uint32_t)mask;
    merge->node[node] = other ^ turned;
    winner ^= turned;
    place ^= (place ^ itsPlace) & mask;
    word ^= (word ^ itsWord) & mask;
  }
  return winner;
}

/// Each run with its first entry; it differs from nothing that won yet.
static uint32_t winnerOf(Merge *merge, uint64_t node) {
  const uint64_t count = (uint64_t)merge->index->runs->count;
  if (node >= count) {
    Run *run = merge->run + node - count;
    size_t size;
    run->cell = after(merge->index->runs->file, run, merge->isPacked, &size);
    run->size = size;
    merge->code[node - count] = merge->isPacked ? (Code){0, load(run->cell)} : (Code){FIRST + 1, 0};
    return (uint32_t)(node - count);
  }
  const uint32_t one = winnerOf(merge, 2 * node), other = winnerOf(merge, 2 * node + 1);
  const int isFirst = isEqual(merge->code[one], merge->code[other]) ? settle(merge, one, other) : isLess(merge->code[one], merge->code[other]);
  merge->node[node] = isFirst ? other : one;
  return isFirst ? one : other;
}

/// All runs of an index; the memory of their blocks is that of the merge before.
static Merge *startMerge(const Index *index, int isPacked) {
  static Merge merge;
  const Runs *runs = index->runs;
  if ((size_t)runs->count * GOT > memory) end(2, "too little memory for so many entries: ", index->object->text[1]);
  merge.index = index;
  merge.isPacked = isPacked;
  for (int i = 0; i < runs->count; i++) {
    Run *run = merge.run + i;
    *run = (Run){.data = run->data, .room = run->room, .cell = run->data + BEFORE, .filled = BEFORE, .stop = runs->stop[i]};
    run->at = i ? runs->stop[i - 1] : 0;
  }
  merge.winner = winnerOf(&merge, 1);
  return &merge;
}

static inline const uint8_t *least(const Merge *merge) { return merge->run[merge->winner].cell; }

/// The entry after the one that won takes its part in the tree.
static inline void goOn(Merge *merge) {
  Code *code = merge->code + merge->winner, ignored;
  Run *run = merge->run + merge->winner;
  size_t size;
  const uint8_t *cell = after(merge->index->runs->file, run, merge->isPacked, &size);
  if (!cell) *code = (Code){DONE, DONE};
  else if (merge->isPacked) code->word = load(cell);
  else compare(merge->index, run->cell, cell, 0, &ignored, code);
  run->cell = cell;
  run->size = size;
  merge->winner = play(merge, merge->winner, (merge->winner + (uint64_t)merge->index->runs->count) / 2);
}
