// Counts calls of the C library in one program, and makes the n-th call of a kind fail, or ends the process there (LD_PRELOAD).
//
// FAULTS_FILE     the counts and the place, a file of the size of `struct report`
// FAULTS_LIST     a file for a line for each call: KIND N CALL PLACE
// FAULTS_PROGRAM  the program that it is for; in others it does nothing
// FAULTS_AT       KIND:N:ERRNO, KIND:N:before or KIND:N:after (SIGKILL before or after the call); ERRNO+ from the n-th on
//
// malloc is left out: Swift's runtime ends the process where memory runs out. Calls within the C library do not pass here.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { OPEN, READ, WRITE, PWRITE, SYNC, RENAME, SOCKET, CONNECT, SEND, RECEIVE, SPAWN, MMAP, KINDS };
static const char *const names[KINDS] = {
    "open", "read", "write", "pwrite", "sync", "rename", "socket", "connect", "send", "receive", "spawn", "mmap"};

// Lies in a file, so that it survives SIGKILL. The driver reads it.
struct report {
    _Atomic uint32_t counts[KINDS];
    char place[208];
};

static struct report *report;
static int wantedKind = -1, wantedError, lasts, killsBefore, killsAfter, list = -1;
static uint32_t wanted;

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("FAULTS_FILE"), *program = getenv("FAULTS_PROGRAM");
    const char *at = getenv("FAULTS_AT"), *lines = getenv("FAULTS_LIST");
    char name[16], action[16] = "";
    if (file && program && strcmp(program, program_invocation_short_name) == 0) {
        int descriptor = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
        void *memory = (void *)syscall(SYS_mmap, NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0L);
        syscall(SYS_close, descriptor);
        if (memory != MAP_FAILED) report = memory;
        if (lines) list = (int)syscall(SYS_openat, AT_FDCWD, lines, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (at && sscanf(at, "%15[^:]:%u:%15s", name, &wanted, action) == 3) {
            for (int kind = 0; kind < KINDS; kind++)
                if (strcmp(name, names[kind]) == 0) wantedKind = kind;
        }
        killsBefore = strcmp(action, "before") == 0;
        killsAfter = strcmp(action, "after") == 0;
        wantedError = atoi(action);
        lasts = strchr(action, '+') != NULL;
    }
    // The programs that this one starts are not meant.
    unsetenv("LD_PRELOAD");
}

static void die(void) { syscall(SYS_kill, getpid(), SIGKILL); }

// Counts a call. Returns 0 where it is made as usual, an error number where it fails, and -1 where the process ends after it.
static int reach(enum kind kind, const char *call, const char *path, int descriptor) {
    if (!report) return 0;
    char link[32], target[160] = "", line[256];
    if (path) {
        snprintf(target, sizeof target, "%s", path);
    } else if (descriptor >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        syscall(SYS_readlink, link, target, sizeof target - 1);
    }
    // The kernel has no reason to refuse a number that wakes a loop, and the journey itself reads the log.
    if (kind == WRITE && (descriptor == 2 || strcmp(target, "anon_inode:[eventfd]") == 0)) return 0;
    uint32_t number = atomic_fetch_add(&report->counts[kind], 1) + 1;
    if (list >= 0) {
        int count = snprintf(line, sizeof line, "%s %u %s %s\n", names[kind], number, call, target);
        syscall(SYS_write, list, line, count);
    }
    if ((int)kind != wantedKind || number < wanted || (number > wanted && !lasts)) return 0;
    if (number == wanted) snprintf(report->place, sizeof report->place, "%s %s", call, target);
    if (killsBefore) die();
    return killsAfter ? -1 : wantedError;
}

#define THROUGH(kind, type, name, parameters, arguments, path, descriptor, failure) \
    type name parameters { \
        static type(*original) parameters; \
        if (!original) original = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
        int before = errno, code = reach(kind, #name, path, descriptor); \
        errno = before; \
        if (code > 0) { \
            errno = code; \
            return failure; \
        } \
        type result = original arguments; \
        if (code < 0) die(); \
        return result; \
    }

#define OPENING(name, parameters, arguments) \
    int name parameters { \
        static int(*original) parameters; \
        if (!original) original = (int(*) parameters)dlsym(RTLD_NEXT, #name); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        int before = errno, code = reach(OPEN, #name, path, -1); \
        errno = before; \
        if (code > 0) { \
            errno = code; \
            return -1; \
        } \
        int result = original arguments; \
        if (code < 0) die(); \
        return result; \
    }

OPENING(open, (const char *path, int flags, ...), (path, flags, mode))
OPENING(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENING(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPENING(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
THROUGH(OPEN, FILE *, fopen, (const char *path, const char *mode), (path, mode), path, -1, NULL)
THROUGH(OPEN, FILE *, fopen64, (const char *path, const char *mode), (path, mode), path, -1, NULL)
THROUGH(OPEN, void *, opendir, (const char *path), (path), path, -1, NULL)
THROUGH(OPEN, int, memfd_create, (const char *name, unsigned flags), (name, flags), name, -1, -1)

THROUGH(READ, ssize_t, read, (int file, void *octets, size_t count), (file, octets, count), NULL, file, -1)
THROUGH(READ, ssize_t, pread,
        (int file, void *octets, size_t count, off_t at),
        (file, octets, count, at), NULL, file, -1)
THROUGH(READ, ssize_t, pread64,
        (int file, void *octets, size_t count, off64_t at),
        (file, octets, count, at), NULL, file, -1)
THROUGH(WRITE, ssize_t, write, (int file, const void *octets, size_t count), (file, octets, count), NULL, file, -1)
THROUGH(PWRITE, ssize_t, pwrite,
        (int file, const void *octets, size_t count, off_t at),
        (file, octets, count, at), NULL, file, -1)
THROUGH(PWRITE, ssize_t, pwrite64,
        (int file, const void *octets, size_t count, off64_t at),
        (file, octets, count, at), NULL, file, -1)
THROUGH(PWRITE, int, ftruncate, (int file, off_t length), (file, length), NULL, file, -1)
THROUGH(PWRITE, int, ftruncate64, (int file, off64_t length), (file, length), NULL, file, -1)

THROUGH(SYNC, int, fsync, (int file), (file), NULL, file, -1)
THROUGH(SYNC, int, fdatasync, (int file), (file), NULL, file, -1)
THROUGH(RENAME, int, rename, (const char *from, const char *to), (from, to), from, -1, -1)
THROUGH(RENAME, int, link, (const char *from, const char *to), (from, to), from, -1, -1)
THROUGH(RENAME, int, unlink, (const char *path), (path), path, -1, -1)
THROUGH(RENAME, int, mkdir, (const char *path, mode_t mode), (path, mode), path, -1, -1)
THROUGH(RENAME, int, chmod, (const char *path, mode_t mode), (path, mode), path, -1, -1)

THROUGH(SOCKET, int, socket,
        (int family, int type, int protocol),
        (family, type, protocol), family == AF_NETLINK ? "netlink" : "", -1, -1)
THROUGH(SOCKET, int, socketpair,
        (int family, int type, int protocol, int ends[2]),
        (family, type, protocol, ends), NULL, -1, -1)
THROUGH(SOCKET, int, accept, (int file, struct sockaddr *from, socklen_t *count), (file, from, count), NULL, file, -1)
THROUGH(SOCKET, int, accept4,
        (int file, struct sockaddr *from, socklen_t *count, int flags),
        (file, from, count, flags), NULL, file, -1)
THROUGH(SOCKET, int, pipe2, (int ends[2], int flags), (ends, flags), NULL, -1, -1)
THROUGH(SOCKET, int, epoll_create1, (int flags), (flags), NULL, -1, -1)
THROUGH(SOCKET, int, timerfd_create, (int clock, int flags), (clock, flags), NULL, -1, -1)
THROUGH(SOCKET, int, eventfd, (unsigned initial, int flags), (initial, flags), NULL, -1, -1)
THROUGH(SOCKET, int, signalfd, (int file, const sigset_t *signals, int flags), (file, signals, flags), NULL, -1, -1)
THROUGH(SOCKET, int, inotify_init1, (int flags), (flags), NULL, -1, -1)
THROUGH(SOCKET, int, inotify_add_watch,
        (int file, const char *path, uint32_t events),
        (file, path, events), path, -1, -1)
THROUGH(SOCKET, int, pidfd_open, (pid_t process, unsigned flags), (process, flags), NULL, -1, -1)
THROUGH(CONNECT, int, connect,
        (int file, const struct sockaddr *to, socklen_t count),
        (file, to, count), NULL, file, -1)
THROUGH(CONNECT, int, bind, (int file, const struct sockaddr *to, socklen_t count), (file, to, count), NULL, file, -1)
THROUGH(CONNECT, int, listen, (int file, int queue), (file, queue), NULL, file, -1)
THROUGH(CONNECT, int, setsockopt,
        (int file, int level, int name, const void *value, socklen_t count),
        (file, level, name, value, count), NULL, file, -1)

THROUGH(SEND, ssize_t, send,
        (int file, const void *octets, size_t count, int flags),
        (file, octets, count, flags), NULL, file, -1)
THROUGH(SEND, ssize_t, sendto,
        (int file, const void *octets, size_t count, int flags, const struct sockaddr *to, socklen_t length),
        (file, octets, count, flags, to, length), NULL, file, -1)
THROUGH(SEND, ssize_t, sendmsg,
        (int file, const struct msghdr *message, int flags),
        (file, message, flags), NULL, file, -1)
THROUGH(RECEIVE, ssize_t, recv,
        (int file, void *octets, size_t count, int flags),
        (file, octets, count, flags), NULL, file, -1)
THROUGH(RECEIVE, ssize_t, recvfrom,
        (int file, void *octets, size_t count, int flags, struct sockaddr *from, socklen_t *length),
        (file, octets, count, flags, from, length), NULL, file, -1)
THROUGH(RECEIVE, ssize_t, recvmsg,
        (int file, struct msghdr *message, int flags),
        (file, message, flags), NULL, file, -1)

THROUGH(SPAWN, int, posix_spawn,
        (pid_t *process, const char *path, const posix_spawn_file_actions_t *actions, 
        const posix_spawnattr_t *attributes, char *const words[], char *const variables[]),
        (process, path, actions, attributes, words, variables), path, -1, code)
THROUGH(SPAWN, int, posix_spawnp,
        (pid_t *process, const char *path, const posix_spawn_file_actions_t *actions, 
        const posix_spawnattr_t *attributes, char *const words[], char *const variables[]),
        (process, path, actions, attributes, words, variables), path, -1, code)
THROUGH(SPAWN, pid_t, fork, (void), (), NULL, -1, -1)
THROUGH(SPAWN, int, pthread_create,
        (pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument),
        (thread, attributes, body, argument), NULL, -1, code)
THROUGH(MMAP, void *, mmap,
        (void *at, size_t count, int protection, int flags, int file, off_t from),
        (at, count, protection, flags, file, from), NULL, file, MAP_FAILED)
THROUGH(MMAP, void *, mmap64,
        (void *at, size_t count, int protection, int flags, int file, off64_t from),
        (at, count, protection, flags, file, from), NULL, file, MAP_FAILED)
