// A library to be preloaded into the program: one call of the system fails, once.
//
// DEWPOINT_FAULT is `kind:number`, kind being alloc, write, fsync, rename or lock: the call with
// this number fails, as on a machine without memory, a full disk, a broken disk, a folder that may
// not be written, a file system without locks. Number 0 fails nothing. Writes are counted where
// they go to regular files, allocations from the moment a file of a study is first opened. At the
// end of the process DEWPOINT_FAULT_COUNT (a file) gets how many calls of the kind there were.
//
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum Kind { ALLOC, WRITE, FSYNC, RENAME, LOCK, NONE };
static const char* const kNames[] = {"alloc", "write", "fsync", "rename", "lock"};

static int wanted = NONE;
static long failing = 0;
static atomic_long calls = 0;
static atomic_bool study_open = 0;
static char count_file[4096];

__attribute__((constructor)) static void read_wish(void) {
  const char* wish = getenv("DEWPOINT_FAULT");
  const char* target = getenv("DEWPOINT_FAULT_COUNT");
  const char* colon = wish ? strchr(wish, ':') : NULL;
  if (target) snprintf(count_file, sizeof count_file, "%s", target);
  for (int kind = 0; colon && kind < NONE; ++kind) {
    if (strncmp(wish, kNames[kind], (size_t)(colon - wish)) == 0) wanted = kind;
  }
  if (colon) failing = strtol(colon + 1, NULL, 10);
  unsetenv("LD_PRELOAD");  // programs that it starts are not meant
}

__attribute__((destructor)) static void tell_count(void) {
  const int kind = wanted;
  const long count = atomic_load(&calls);
  wanted = NONE;
  if (kind == NONE || count_file[0] == 0) return;
  FILE* file = fopen(count_file, "w");
  if (file == NULL) return;
  fprintf(file, "%ld\n", count);
  fclose(file);
}

// Whether this call is the one that fails.
static int fails(int kind) { return kind == wanted && atomic_fetch_add(&calls, 1) + 1 == failing; }

static int is_regular(int descriptor) {
  struct stat found;
  return fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode);
}

// ---- memory -----------------------------------------------------------------------------------

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static int no_memory(void) {
  if (wanted != ALLOC || !atomic_load(&study_open) || !fails(ALLOC)) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return no_memory() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return no_memory() ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return no_memory() ? NULL : __libc_realloc(old, size); }
void* aligned_alloc(size_t alignment, size_t size) {
  return no_memory() ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  void* memory = no_memory() ? NULL : __libc_memalign(alignment, size);
  if (memory != NULL) *result = memory;
  return memory != NULL ? 0 : ENOMEM;
}

// ---- files ------------------------------------------------------------------------------------

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void look_at(const char* path) {
  const size_t size = strlen(path);
  if (size >= 6 && strcmp(path + size - 6, ".study") == 0) atomic_store(&study_open, 1);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
  va_end(rest);
  look_at(path);
  return REAL(open)(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
  va_end(rest);
  look_at(path);
  return REAL(open64)(path, flags, mode);
}

static int no_room(int descriptor) {
  if (wanted != WRITE || !is_regular(descriptor) || !fails(WRITE)) return 0;
  errno = ENOSPC;
  return 1;
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  return no_room(descriptor) ? -1 : REAL(write)(descriptor, bytes, size);
}
ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t at) {
  return no_room(descriptor) ? -1 : REAL(pwrite)(descriptor, bytes, size, at);
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t at) {
  return no_room(descriptor) ? -1 : REAL(pwrite64)(descriptor, bytes, size, at);
}
ssize_t writev(int descriptor, const struct iovec* parts, int count) {
  return no_room(descriptor) ? -1 : REAL(writev)(descriptor, parts, count);
}

static int no_disk(void) {
  if (!fails(FSYNC)) return 0;
  errno = EIO;
  return 1;
}

int fsync(int descriptor) { return no_disk() ? -1 : REAL(fsync)(descriptor); }
int fdatasync(int descriptor) { return no_disk() ? -1 : REAL(fdatasync)(descriptor); }

int rename(const char* from, const char* to) {
  if (fails(RENAME)) {
    errno = EACCES;
    return -1;
  }
  return REAL(rename)(from, to);
}

int flock(int descriptor, int operation) {
  if (fails(LOCK)) {
    errno = ENOLCK;
    return -1;
  }
  return REAL(flock)(descriptor, operation);
}
