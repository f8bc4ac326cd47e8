// Stops or kills a program before a call that changes the disk, so that every such moment of a run can be tried.
//
//   STOP_LOG=calls.txt LD_PRELOAD=./stop-at.so PROGRAM ...    numbers the calls and lists them
//   STOP_AT=120 LD_PRELOAD=./stop-at.so PROGRAM ...           stops (SIGSTOP) before call 120
//   STOP_AT=120 STOP_WITH=KILL LD_PRELOAD=./stop-at.so ...    kills it there
//   STOP_AT=120 STOP_WITH=WAIT LD_PRELOAD=./stop-at.so ...    lets that thread alone wait for more than a second
//   STOP_AT=2 STOP_ONLY="rename cutover.json" ...             counts only calls of that name (* for all) whose path ends so
//
// Built and used by scripts/life-campaign and Tests/CommandTests/Findings. All threads share one count. What other programs
// it starts is not counted.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long number;

static int counts(const char *name, const char *path) {
  const char *only = getenv("STOP_ONLY");
  if (!only) return 1;
  size_t length = strcspn(only, " ");
  if (only[0] != '*' && (strlen(name) != length || strncmp(only, name, length) != 0)) return 0;
  const char *end = only + length + (only[length] == ' ');
  return strlen(path) >= strlen(end) && strcmp(path + strlen(path) - strlen(end), end) == 0;
}

static void before(const char *name, const char *path) {
  if (!counts(name, path)) return;
  long own = atomic_fetch_add(&number, 1) + 1;
  const char *log = getenv("STOP_LOG"), *at = getenv("STOP_AT"), *with = getenv("STOP_WITH");
  if (log) {
    static int (*real)(const char *, int, ...);
    if (!real) real = dlsym(RTLD_NEXT, "open");
    int file = real(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) {
      dprintf(file, "%ld %s %s\n", own, name, path);
      close(file);
    }
  }
  if (!at || atol(at) != own) return;
  if (with && strcmp(with, "WAIT") == 0) usleep(1300000);
  else raise(with && strcmp(with, "KILL") == 0 ? SIGKILL : SIGSTOP);
}

#define WATCH(result, name, parameters, arguments, path)              \
  result name parameters {                                            \
    static result(*real) parameters;                                  \
    if (!real) real = dlsym(RTLD_NEXT, #name);                        \
    before(#name, path);                                              \
    return real arguments;                                            \
  }

WATCH(int, rename, (const char *from, const char *to), (from, to), to)
WATCH(int, renameat2, (int a, const char *from, int b, const char *to, unsigned int flags), (a, from, b, to, flags), to)
WATCH(int, link, (const char *from, const char *to), (from, to), to)
WATCH(int, unlink, (const char *path), (path), path)
WATCH(int, rmdir, (const char *path), (path), path)
WATCH(int, mkdir, (const char *path, mode_t mode), (path, mode), path)
WATCH(int, fsync, (int file), (file), "")
WATCH(int, fdatasync, (int file), (file), "")
WATCH(int, ftruncate, (int file, off_t length), (file, length), "")

#define WATCH_OPEN(name)                                              \
  int name(const char *path, int flags, ...) {                        \
    static int (*real)(const char *, int, ...);                       \
    if (!real) real = dlsym(RTLD_NEXT, #name);                        \
    mode_t mode = 0;                                                  \
    if (flags & (O_CREAT | O_TMPFILE)) {                              \
      va_list rest;                                                   \
      va_start(rest, flags);                                          \
      mode = va_arg(rest, mode_t);                                    \
      va_end(rest);                                                   \
    }                                                                 \
    if (flags & O_CREAT) before(#name, path);                         \
    return real(path, flags, mode);                                   \
  }

WATCH_OPEN(open)
WATCH_OPEN(open64)
