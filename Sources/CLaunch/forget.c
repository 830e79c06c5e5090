#define _GNU_SOURCE
#include "confine.h"
#include "kernel.h"
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned long hexadecimal(const char **text) {
    unsigned long value = 0;
    for (;; (*text)++) {
        char c = **text;
        if (c >= '0' && c <= '9') value = value << 4 | (unsigned long)(c - '0');
        else if (c >= 'a' && c <= 'f') value = value << 4 | (unsigned long)(c - 'a' + 10);
        else return value;
    }
}

// One line of /proc/self/maps: private memory of no file is given back, also what is locked against reading for the moment. Code is
// left, and so is the launch's own stack, which is a mapping between two guards and began empty.
LAUNCH_UNGUARDED static void forget_region(const char *line, unsigned long here) {
    unsigned long start = hexadecimal(&line);
    if (*line++ != '-') return;
    unsigned long end = hexadecimal(&line);
    if (line[0] != ' ' || line[3] == 'x' || line[4] != 'p') return;
    line += 6;
    hexadecimal(&line); // offset
    if (*line++ != ' ') return;
    while (*line && *line != ' ') line++; // device
    if (line[0] != ' ' || line[1] != '0' || (line[2] != ' ' && line[2] != 0)) return; // a file's
    if (here >= start && here < end) return;
    call(SYS_madvise, start, end - start, MADV_DONTNEED);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
// A sanitizer's own memory must stay, or nothing that it has instrumented runs on.
#define LAUNCH_KEEPS_MEMORY 1
#endif
#endif

LAUNCH_UNGUARDED int launch_forget(void) {
#ifdef LAUNCH_KEEPS_MEMORY
    return 0;
#else
    char buffer[4096], line[128];
    size_t length = 0;
    unsigned long here = (unsigned long)__builtin_frame_address(0);
    int maps = (int)call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (maps < 0) return -1;
    long count;
    while ((count = call(SYS_read, maps, buffer, sizeof buffer)) > 0) {
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
    call(SYS_close, maps);
    return count == 0 ? 0 : -1;
#endif
}
