#include <stdint.h>

/// Asks the processor for memory that is read soon. Swift has no word for it.
static inline void godwit_prefetch(const void *place) { __builtin_prefetch(place); }

/// All bits if one number is less than another, else none. The compiler cannot make a branch of it, which would often be
/// foreseen wrongly where numbers come in no order.
static inline uint64_t godwit_less(uint64_t left, uint64_t right) {
  uint64_t mask = -(uint64_t)(left < right);
  __asm__("" : "+r"(mask));
  return mask;
}
