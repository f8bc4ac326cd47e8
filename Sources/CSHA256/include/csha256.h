#ifndef CSHA256_H
#define CSHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether this processor has instructions for SHA-256 that `godwit_sha256_blocks` knows.
bool godwit_sha256_available(void);

/// Takes whole blocks of 64 bytes into the eight words of `state`, by the processor's own instructions.
/// Call it only if `godwit_sha256_available` is true.
void godwit_sha256_blocks(uint32_t state[8], const uint8_t *bytes, size_t count);

#endif
