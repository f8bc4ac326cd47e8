// SHA-256 (FIPS 180-4, 6.2) with the SHA extensions of x86 processors.
//
// Four rounds are one group: the instruction _mm_sha256rnds2_epu32 does two of them. It wants the eight words of the state as two vectors,
// {A, B, E, F} and {C, D, G, H}, from the highest word to the lowest. Sixteen message words are in four vectors; each group replaces the oldest
// vector by the words that are used four groups later.
#include "csha256.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

static const uint32_t constants[64] __attribute__((aligned(16))) = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

bool godwit_sha256_available(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
  const bool sse41 = c & bit_SSE4_1, ssse3 = c & bit_SSSE3;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  return sse41 && ssse3 && (b & bit_SHA);
}

#define TARGET __attribute__((target("sha,sse4.1,ssse3")))

/// The four message words that follow the sixteen in `w`, oldest first: FIPS 180-4, 6.2.2, step 1.
TARGET static inline __m128i schedule(const __m128i w[4]) {
  const __m128i sevenBefore = _mm_alignr_epi8(w[3], w[2], 4);
  const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]), sevenBefore);
  return _mm_sha256msg2_epu32(sum, w[3]);
}

TARGET static inline void fourRounds(__m128i *abef, __m128i *cdgh, __m128i words, int group) {
  const __m128i sum = _mm_add_epi32(words, _mm_load_si128((const __m128i *)constants + group));
  *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, sum);
  *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(sum, 0x0E));
}

TARGET static inline void block(__m128i *abef, __m128i *cdgh, const uint8_t *bytes) {
  const __m128i bigEndian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  const __m128i abefBefore = *abef, cdghBefore = *cdgh;
  __m128i w[4];
  for (int i = 0; i < 4; i++) w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)bytes + i), bigEndian);
#pragma clang loop unroll(full)
  for (int group = 0; group < 16; group++) {
    fourRounds(abef, cdgh, w[0], group);
    const __m128i next = group < 12 ? schedule(w) : w[0];
    w[0] = w[1];
    w[1] = w[2];
    w[2] = w[3];
    w[3] = next;
  }
  *abef = _mm_add_epi32(*abef, abefBefore);
  *cdgh = _mm_add_epi32(*cdgh, cdghBefore);
}

TARGET void godwit_sha256_blocks(uint32_t state[8], const uint8_t *bytes, size_t count) {
  // state is {A, B, C, D} and {E, F, G, H} from the lowest word.
  __m128i low = _mm_loadu_si128((const __m128i *)state), high = _mm_loadu_si128((const __m128i *)(state + 4));
  const __m128i badc = _mm_shuffle_epi32(low, 0xB1), hgfe = _mm_shuffle_epi32(high, 0x1B);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xF0);
  for (size_t i = 0; i + 64 <= count; i += 64) block(&abef, &cdgh, bytes + i);
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  low = _mm_blend_epi16(feba, dchg, 0xF0);
  high = _mm_alignr_epi8(dchg, feba, 8);
  _mm_storeu_si128((__m128i *)state, low);
  _mm_storeu_si128((__m128i *)(state + 4), high);
}

#else

bool godwit_sha256_available(void) { return false; }

void godwit_sha256_blocks(uint32_t state[8], const uint8_t *bytes, size_t count) {
  (void)state;
  (void)bytes;
  (void)count;
}

#endif
