// What all parts share: numbers of the file format, memory that grows, hashes.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 20, READ = 1 << 18, MOST_KEYS = 16, MOST_COLUMNS = 256, DEPTH = 20, FEW = 12, DIGIT = 11, SLACK = 64, BLOCK = 4096 };
enum { BEFORE = 8 };  // Room before the first entry: integers are read with what is before them.
enum { MOST_RUNS = 1 << 10, PUT = 1 << 16, GOT = 1 << 14 };  // Runs of an index; bytes that are written to them, or read, at once.
enum { CLASS = 0, REST = -1 };  // Parts of a value by which entries are sorted; the others are words of eight bytes, from 1 on.
static const int64_t NONE = INT64_MIN + 0x1E35A7BD;  // NULL among integers; a row that has this very number is refused.

typedef struct { uint8_t *data; size_t used, room; } Buffer;
typedef struct { uint8_t *bytes; size_t cells, start, last; uint32_t right; } Page;
typedef struct { Page level[DEPTH]; int height, isTable; } Tree;
typedef struct { char *text[4]; uint32_t root; } Object;  // Type, name, table and SQL.
typedef struct { int file, count; off_t stop[MOST_RUNS]; uint8_t *last; } Runs;  // Where each ends in the file; the last entry of all.
typedef struct { int column, isInteger; Buffer words; uint64_t type, size; const uint8_t *body; } Column;
typedef struct {
  Object *object;
  int keys, isPacked, column[MOST_KEYS], isDescending[MOST_KEYS], classes[MOST_KEYS];
  Buffer cells;
  size_t entries;  // In memory.
  Runs *runs;
  uint64_t sum;
} Index;
typedef struct {
  Object *object;
  int columns, indexes, alias;
  Column column[MOST_COLUMNS];
  Index *index;
  Buffer rowids;
} Table;
typedef struct { int type; size_t size; uint8_t body[8]; } Integer;

static const uint8_t *source;
static size_t pageSize, filled, memory = SIZE_MAX, share;  // For sorting; for each index of a table.
static int output, isProved;
static const char *outputName;
static uint8_t *piece;
static uint32_t next = 2, lockPage;
static Buffer items, spare, whole;
static uint64_t rowSum, keys[BLOCK / 8 + 4];
static uint8_t sizes[128];  // Of values, by serial types of one byte.

static void end(int code, const char *what, const char *name) {
  fprintf(stderr, "bare: %s%s\n", what, name);
  exit(code);
}

static inline uint64_t load(const uint8_t *p) { uint64_t value; memcpy(&value, p, 8); return value; }
static inline uint32_t load32(const uint8_t *p) { uint32_t value; memcpy(&value, p, 4); return value; }
static inline uint32_t get16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static inline uint32_t get32(const uint8_t *p) { return __builtin_bswap32(load32(p)); }
static inline void put16(uint8_t *p, size_t value) { p[0] = (uint8_t)(value >> 8); p[1] = (uint8_t)value; }
static inline void put32(uint8_t *p, uint32_t value) { value = __builtin_bswap32(value); memcpy(p, &value, 4); }

static inline const uint8_t *getVarint(const uint8_t *p, uint64_t *value) {
  uint64_t found = *p & 127;
  for (int count = 1; *p++ & 128; count++) {
    found = count == 8 ? found << 8 | *p : found << 7 | (*p & 127);
    if (count == 8) { p++; break; }
  }
  *value = found;
  return p;
}

static inline uint8_t *putVarint(uint8_t *p, uint64_t value) {
  if (value < 128) { *p = (uint8_t)value; return p + 1; }
  int count = 2;
  while (count < 9 && value >> 7 * count) count++;
  if (count == 9) { p[8] = (uint8_t)value; value >>= 8; }
  const int last = count == 9 ? 7 : count - 1;
  for (int at = last; at >= 0; at--, value >>= 7) p[at] = (uint8_t)((value & 127) | (at < last || count == 9 ? 128 : 0));
  return p + count;
}

static inline uint64_t sizeOf(uint64_t type) { return type < 128 ? sizes[type] : (type - 12) >> 1; }

/// An integer, of its body's last eight bytes: there are always as many before its end.
static inline int64_t integer(uint64_t type, const uint8_t *body) {
  if (type == 0) return NONE;
  if (type >= 8) return (int64_t)type - 8;
  const int shift = 64 - 8 * sizes[type];
  return (int64_t)(__builtin_bswap64(load(body + sizes[type] - 8)) << shift) >> shift;
}

static inline Integer encoded(int64_t value) {
  static const uint8_t bytes[9] = {1, 1, 2, 3, 4, 6, 6, 8, 8}, types[9] = {1, 1, 2, 3, 4, 5, 5, 6, 6};
  if (value == NONE) return (Integer){0};
  if (value == 0 || value == 1) return (Integer){.type = 8 + (int)value};
  const int least = (64 - __builtin_clzll((uint64_t)(value ^ value >> 63) | 1)) / 8 + 1;
  Integer made = {.type = types[least], .size = bytes[least]};
  const uint64_t body = __builtin_bswap64((uint64_t)value << (64 - 8 * made.size));
  memcpy(made.body, &body, 8);
  return made;
}

static inline void copy(uint8_t *to, const uint8_t *from, size_t size) {
  if (size >= 64) { memcpy(to, from, size); return; }
  if (size >= 16) {
    for (size_t at = 0; at + 16 < size; at += 16) memcpy(to + at, from + at, 16);
    memcpy(to + size - 16, from + size - 16, 16);
  } else if (size >= 8) {
    const uint64_t first = load(from), last = load(from + size - 8);
    memcpy(to, &first, 8);
    memcpy(to + size - 8, &last, 8);
  } else if (size >= 4) {
    const uint32_t first = load32(from), last = load32(from + size - 4);
    memcpy(to, &first, 4);
    memcpy(to + size - 4, &last, 4);
  } else {
    while (size--) to[size] = from[size];
  }
}

static void grow(Buffer *buffer, size_t more) {
  size_t room = buffer->room ? buffer->room : 1 << 21;
  while (room < buffer->used + more + SLACK) room *= 2;
  void *data = buffer->room ? mremap(buffer->data, buffer->room, room, MREMAP_MAYMOVE)
                            : mmap(0, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) end(1, "there is no memory", "");
  madvise(data, room, MADV_HUGEPAGE);
  *buffer = (Buffer){data, buffer->used, room};
}
static inline void reserve(Buffer *buffer, size_t more) { if (buffer->used + more + SLACK > buffer->room) grow(buffer, more); }
static inline void push(Buffer *buffer, int64_t word) { memcpy(buffer->data + buffer->used, &word, 8); buffer->used += 8; }

static inline unsigned __int128 product(uint64_t one, uint64_t other, const uint64_t *key) {
  return (unsigned __int128)(one ^ key[0]) * (other ^ key[1]);
}

/// Sums of products of words with keys: the products of a block need not wait for each other.
static inline uint64_t hash(const uint8_t *p, size_t size, uint64_t seed) {
  const uint64_t *key = keys;
  uint64_t mixed = (seed + 1) * 0x9E3779B97F4A7C15, first = 0, last = 0;
  unsigned __int128 sum = 0;
  size_t at = 0;
  for (; size - at > BLOCK; mixed = (mixed ^ (uint64_t)sum ^ (uint64_t)(sum >> 64)) * 0xD6E8FEB86659FD93, key = keys)
    for (const size_t stop = at + BLOCK; at < stop; at += 16, key += 2) sum += product(load(p + at), load(p + at + 8), key);
  for (; at + 16 <= size; at += 16, key += 2) sum += product(load(p + at), load(p + at + 8), key);
  if (size >= 8) {
    first = load(p + (size >= 16 ? size - 16 : 0));
    last = load(p + size - 8);
  } else if (size >= 4) {
    first = load32(p);
    last = load32(p + size - 4);
  } else {
    for (size_t i = 0; i < size; i++) first = first << 8 | p[i];
  }
  sum += product(first, last, key);
  sum = (unsigned __int128)((uint64_t)sum ^ mixed) * ((uint64_t)(sum >> 64) ^ (mixed >> 29) ^ size ^ 0xA0761D6478BD642F);
  return (uint64_t)sum ^ (uint64_t)(sum >> 64);
}
static inline uint64_t mix(uint64_t mixed, int64_t word) {
  const unsigned __int128 found = (unsigned __int128)(mixed ^ 0xA0761D6478BD642F) * ((uint64_t)word ^ 0xE7037ED1A0B428DB);
  return (uint64_t)found ^ (uint64_t)(found >> 64);
}
