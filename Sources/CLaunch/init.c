#define _GNU_SOURCE
#include "confine.h"
#include "kernel.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

// Connections that a helper may begin at once, and how many more with each second.
enum { AT_ONCE = 256, PER_SECOND = 16 };

static int64_t milliseconds(void) {
    struct timespec now = {0, 0};
    call(SYS_clock_gettime, CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void reap(pid_t helper, int report) {
    for (;;) {
        int status = 0;
        long ended = call(SYS_wait4, -1, &status, WNOHANG, NULL);
        if (ended <= 0) return;
        if (ended != helper) continue;
        struct launch_report record = {LAUNCH_REPORT_ENDED, (uint32_t)status, 0};
        call(SYS_write, report, &record, sizeof record);
        // With its init the kernel ends everything else in the namespace.
        call(SYS_exit_group, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
}

void launch_init(pid_t helper, int report_pipe, int meter) {
    // Blocked since before the copy; blocked ones are queued also for an init.
    uint64_t awaited = 1UL << (SIGCHLD - 1) | 1UL << (SIGTERM - 1);
    enum { REPORT, SIGNALS, METER };
    // All of these come after the helper's own descriptors, which are three at least, in this order.
    int signals = (int)call(SYS_signalfd4, -1, &awaited, 8, SFD_CLOEXEC | SFD_NONBLOCK);
    call(SYS_dup3, report_pipe, REPORT, O_CLOEXEC);
    call(SYS_dup3, signals, SIGNALS, O_CLOEXEC);
    if (meter >= 0) call(SYS_dup3, meter, METER, O_CLOEXEC);
    int rest = meter >= 0 ? METER + 1 : METER;
    if (call(SYS_close_range, rest, ~0U, 0) < 0)
        for (int i = rest; i <= signals; i++) call(SYS_close, i);
    launch_be_still();
    int64_t room = AT_ONCE * 1000, before = milliseconds();
    for (;;) {
        int64_t now = milliseconds();
        room += (now - before) * PER_SECOND;
        if (room > AT_ONCE * 1000) room = AT_ONCE * 1000;
        before = now;
        int waits = room < 1000;
        struct pollfd sources[] = {{SIGNALS, POLLIN, 0}, {meter < 0 || waits ? -1 : METER, POLLIN, 0}};
        struct timespec patience = {0, waits ? ((1000 - room) / PER_SECOND + 1) * 1000000 : 0};
        long ready = call(SYS_ppoll, sources, 2, waits ? &patience : NULL, NULL, 8);
        // Without this nothing would be heard any more. The rest of the namespace goes along.
        if (ready < 0 && ready != -EINTR) call(SYS_exit_group, 1);
        if (sources[1].revents & POLLIN) {
            launch_let_go(METER);
            room -= 1000;
        }
        if (!(sources[0].revents & POLLIN)) continue;
        struct signalfd_siginfo signal;
        while (call(SYS_read, SIGNALS, &signal, sizeof signal) == sizeof signal)
            if (signal.ssi_signo == SIGTERM) call(SYS_kill, helper, SIGTERM);
        reap(helper, REPORT);
    }
}
