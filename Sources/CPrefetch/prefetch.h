/// Asks the processor for memory that is read soon. Swift has no word for it.
static inline void godwit_prefetch(const void *place) { __builtin_prefetch(place); }
