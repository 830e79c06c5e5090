#define _GNU_SOURCE
#include "confine.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define PAGE_ROOM 65536UL

static unsigned long hexadecimal(const char **text) {
    unsigned long value = 0;
    for (;; (*text)++) {
        char c = **text;
        if (c >= '0' && c <= '9') value = value << 4 | (unsigned long)(c - '0');
        else if (c >= 'a' && c <= 'f') value = value << 4 | (unsigned long)(c - 'a' + 10);
        else return value;
    }
}

// One line of /proc/self/maps: private memory of no file that can be written is given back.
static void forget_region(const char *line, unsigned long here) {
    unsigned long start = hexadecimal(&line);
    if (*line++ != '-') return;
    unsigned long end = hexadecimal(&line);
    if (line[0] != ' ' || line[2] != 'w' || line[4] != 'p') return;
    line += 6;
    hexadecimal(&line); // offset
    if (*line++ != ' ') return;
    while (*line && *line != ' ') line++; // device
    if (line[0] != ' ' || line[1] != '0' || (line[2] != ' ' && line[2] != 0)) return; // a file's
    if (here >= start && here < end) {
        // Our own stack: what lies above belongs to callers that are never returned to.
        start = (here + 2 * PAGE_ROOM) & ~(PAGE_ROOM - 1);
        if (start >= end) return;
    }
    syscall(SYS_madvise, start, end - start, MADV_DONTNEED);
}

// The init is a copy of the daemon. It must not keep the daemon's memory, which holds secrets, for as long as a helper lives.
// After this only system calls work: the heap and the thread's own data read as zeros.
__attribute__((noinline)) static void forget_memory(void) {
    char buffer[4096], line[128];
    size_t length = 0;
    unsigned long here = (unsigned long)__builtin_frame_address(0);
    int maps = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (maps < 0) return;
    for (;;) {
        long count = syscall(SYS_read, maps, buffer, sizeof buffer);
        if (count <= 0) break;
        for (long i = 0; i < count; i++) {
            if (buffer[i] == '\n') {
                line[length] = 0;
                forget_region(line, here);
                length = 0;
            } else if (length < sizeof line - 1) {
                line[length++] = buffer[i];
            }
        }
    }
    syscall(SYS_close, maps);
}

void launch_init(pid_t helper, int report_pipe) {
    syscall(SYS_dup3, report_pipe, 0, O_CLOEXEC);
    if (syscall(SYS_close_range, 1, ~0U, 0) < 0)
        for (int i = 1; i <= report_pipe; i++) syscall(SYS_close, i);
    forget_memory();
    // All signals are blocked since before the copy; blocked ones are queued also for an init.
    uint64_t awaited = 1UL << (SIGCHLD - 1) | 1UL << (SIGTERM - 1);
    for (;;) {
        long signal = syscall(SYS_rt_sigtimedwait, &awaited, NULL, NULL, 8);
        if (signal == SIGTERM) syscall(SYS_kill, helper, SIGTERM);
        for (;;) {
            int status = 0;
            long ended = syscall(SYS_wait4, -1, &status, WNOHANG, NULL);
            if (ended <= 0) break;
            if (ended != helper) continue;
            struct launch_report record = {LAUNCH_REPORT_ENDED, (uint32_t)status, 0};
            syscall(SYS_write, 0, &record, sizeof record);
            // With its init the kernel ends everything else in the namespace.
            syscall(SYS_exit_group, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        }
    }
}
