// Tells ThreadSanitizer of the locks that a Mutex takes and lets go when it has to wait: that code lies in the standard library, which
// is not instrumented, so that what such a lock guards would be reported. Loaded before it by scripts/sanitize.
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

typedef SWIFT void (*Lock)(uint32_t thread, __attribute__((swift_context)) void *handle);
typedef SWIFT void (*Unlock)(__attribute__((swift_context)) void *handle);

static void *next(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

SWIFT void godwit_lock(uint32_t thread, __attribute__((swift_context)) void *handle) __asm__(LOCK);
SWIFT void godwit_lock(uint32_t thread, __attribute__((swift_context)) void *handle) {
  ((Lock)next(LOCK))(thread, handle);
  if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT void godwit_unlock(__attribute__((swift_context)) void *handle) __asm__(UNLOCK);
SWIFT void godwit_unlock(__attribute__((swift_context)) void *handle) {
  if (__tsan_release) __tsan_release(handle);
  ((Unlock)next(UNLOCK))(handle);
}
