#pragma once

#include <spawn.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>

/* prctl(2) is variadic, which Swift cannot call. */
static inline int clinux_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
static inline int clinux_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }
static inline int clinux_clear_ambient_capabilities(void) { return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); }

/* Declared for _GNU_SOURCE alone, without which Swift reads glibc's headers; and malloc.h. */
int malloc_trim(size_t pad);
int pipe2(int ends[2], int flags);
int memfd_create(const char *name, unsigned int flags);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
