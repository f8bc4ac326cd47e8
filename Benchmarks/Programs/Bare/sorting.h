// Sorting: words of 64 bits, a part of a key above and what tells the entry below. What is below ascends at first, so that equal keys
// keep the order of their rowids.
#include "rows.h"

static int width(uint64_t value) { return value ? 64 - __builtin_clzll(value) : 0; }

static void insertWords(uint64_t *words, size_t count) {
  for (size_t i = 1; i < count; i++) {
    const uint64_t word = words[i];
    size_t at = i;
    for (; at > 0 && words[at - 1] > word; at--) words[at] = words[at - 1];
    words[at] = word;
  }
}

/// By radix, the least digit first, of the bits from this one on.
static void sortDigits(uint64_t *words, size_t count, int from, int bits) {
  static uint32_t counts[7][1 << DIGIT];
  const int passes = (bits + DIGIT - 1) / DIGIT, wide = (bits + passes - 1) / passes;
  const uint64_t mask = (1ULL << wide) - 1;
  memset(counts, 0, sizeof counts[0] * (size_t)passes);
  for (size_t i = 0; i < count; i++)
    for (int pass = 0; pass < passes; pass++) counts[pass][words[i] >> (from + pass * wide) & mask]++;
  uint64_t *a = words, *b = (uint64_t *)spare.data;
  for (int pass = 0; pass < passes; pass++) {
    const int shift = from + pass * wide;
    uint32_t *places = counts[pass], sum = 0;
    if (places[a[0] >> shift & mask] == count) continue;
    for (uint64_t digit = 0; digit <= mask; digit++) {
      const uint32_t here = places[digit];
      places[digit] = sum;
      sum += here;
    }
    for (size_t i = 0; i < count; i++) b[places[a[i] >> shift & mask]++] = a[i];
    uint64_t *swapped = a;
    a = b;
    b = swapped;
  }
  if (a != words) memcpy(words, a, count * 8);
}

/// The end of the words that are equal from a bit on.
static inline size_t endOfEqual(const uint64_t *words, size_t start, size_t count, int from) {
  size_t stop = start + 1;
  while (stop < count && words[stop] >> from == words[start] >> from) stop++;
  return stop;
}

/// By as many bits as tell most words apart; the few that are equal in them then by the rest.
static void sortWords(uint64_t *words, size_t count, int low, int bits) {
  if (count <= 2 * FEW) { insertWords(words, count); return; }
  const int wanted = width(count) + 2, taken = bits < wanted ? bits : wanted, from = low + bits - taken;
  sortDigits(words, count, from, taken);
  for (size_t start = 0, stop; taken < bits && start < count; start = stop) {
    stop = endOfEqual(words, start, count, from);
    if (stop - start > 1) sortWords(words + start, stop - start, low, bits - taken);
  }
}

/// A double as a word in its order. The two zeros are equal.
static uint64_t ofDouble(double value) {
  uint64_t bits;
  value += 0.0;
  memcpy(&bits, &value, 8);
  return bits >> 63 ? ~bits : bits | 1ULL << 63;
}

/// Numbers are ordered as doubles, and then by what a double does not have of an integer.
static uint64_t partOfNumber(uint64_t type, const uint8_t *body, int part) {
  const int64_t value = integer(type, body);
  double real = (double)value;
  if (type == 7) memcpy(&real, &value, 8);
  if (part != REST) return ofDouble(real);
  return (1ULL << 63) + (type == 7 ? 0 : (uint64_t)(int64_t)((__int128)value - (__int128)real));
}

static uint64_t partOfText(const uint8_t *body, size_t size, int part) {
  const size_t at = 8 * (size_t)(part - 1);
  if (part == REST) return size;
  if (at >= size) return 0;
  const size_t beyond = at + 8 <= size ? 0 : 8 * (at + 8 - size);  // Bits of what is after the text.
  return __builtin_bswap64(load(body + at)) >> beyond << beyond;
}

/// A part of a value of an entry, as a word that compares as SQLite compares values; how long texts are.
static uint64_t partOf(const Index *index, const uint8_t *cell, int key, int part, size_t *longest) {
  uint64_t payload, type = 0, word = 0;
  const uint8_t *record = getVarint(cell, &payload), *types = record + 1, *body = record + record[0];
  for (int i = 0; i < key; i++) {
    types = getVarint(types, &type);
    body += sizeOf(type);
  }
  getVarint(types, &type);
  const int class = classOf(type);
  const size_t size = sizeOf(type);
  if (class > 1 && size > *longest) *longest = size;
  if (part == CLASS) word = (uint64_t)class;
  else if (class == 1) word = partOfNumber(type, body, part);
  else if (class > 1) word = partOfText(body, size, part);
  return index->isDescending[key] ? ~word : word;
}

static int partAfter(int part, size_t longest) { return part == CLASS || 8 * (size_t)part < longest ? part + 1 : REST; }

static int isAfter(const Index *index, const uint8_t *a, const uint8_t *b, int key, int part) {
  for (; key < index->keys; key++, part = CLASS)
    for (;;) {
      size_t longest = 0;
      const uint64_t one = partOf(index, a, key, part, &longest), other = partOf(index, b, key, part, &longest);
      if (one != other) return one > other;
      if (part == REST) break;
      part = partAfter(part, longest);
    }
  return 0;
}

static void insertEntries(const Index *index, uint64_t *words, size_t count, int low, int key, int part) {
  const uint64_t mask = (1ULL << low) - 1;
  const uint8_t *cells = index->cells.data;
  for (size_t i = 1; i < count; i++) {
    const uint64_t word = words[i];
    size_t at = i;
    for (; at > 0 && isAfter(index, cells + (words[at - 1] & mask), cells + (word & mask), key, part); at--) words[at] = words[at - 1];
    words[at] = word;
  }
}

/// Puts a part of each entry's key above the place of the entry: the words are sorted by them then. Gives how many bits of the parts had
/// no room, or -1 if all are equal.
static int sortByPart(const Index *index, uint64_t *words, size_t count, int low, int key, int part, size_t *longest) {
  const uint64_t mask = (1ULL << low) - 1;
  uint64_t *found = (uint64_t *)spare.data, least = UINT64_MAX, greatest = 0;
  size_t falls = 0;
  for (size_t i = 0; i < count; i++) {
    if (i + 8 < count) __builtin_prefetch(index->cells.data + (words[i + 8] & mask));
    const uint64_t word = found[i] = partOf(index, index->cells.data + (words[i] & mask), key, part, longest);
    if (i) falls += word < found[i - 1];
    if (word < least) least = word;
    if (word > greatest) greatest = word;
  }
  if (least == greatest) return -1;
  const int bits = width(greatest - least), cut = bits > 64 - low ? bits - (64 - low) : 0;
  for (size_t i = 0; i < count; i++) words[i] = ((found[i] - least) >> cut) << low | (words[i] & mask);
  if (falls) sortWords(words, count, low, bits - cut);
  return cut;
}

/// Entries that are equal in all parts before this one; `low` bits of each word tell where an entry is.
static void sortEntries(const Index *index, uint64_t *words, size_t count, int low, int key, int part) {
  while (key < index->keys) {
    // Values of one class need no order of classes.
    if (part == CLASS && !(index->classes[key] & (index->classes[key] - 1))) part++;
    if (count <= FEW) { insertEntries(index, words, count, low, key, part); return; }
    size_t longest = 0;
    const int cut = sortByPart(index, words, count, low, key, part, &longest);
    if (cut <= 0) {
      key += part == REST;
      part = part == REST ? CLASS : partAfter(part, longest);
    }
    for (size_t start = 0, stop; cut >= 0 && start < count; start = stop) {
      stop = endOfEqual(words, start, count, low);
      if (stop - start > 1) sortEntries(index, words + start, stop - start, low, key, part);
    }
    if (cut >= 0) return;
  }
}
