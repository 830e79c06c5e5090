#define _GNU_SOURCE
#include "confine.h"
#include "kernel.h"
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

void launch_init(pid_t helper, int report_pipe) {
    call(SYS_dup3, report_pipe, 0, O_CLOEXEC);
    if (call(SYS_close_range, 1, ~0U, 0) < 0)
        for (int i = 1; i <= report_pipe; i++) call(SYS_close, i);
    launch_be_still();
    // All signals are blocked since before the copy; blocked ones are queued also for an init.
    uint64_t awaited = 1UL << (SIGCHLD - 1) | 1UL << (SIGTERM - 1);
    for (;;) {
        long signal = call(SYS_rt_sigtimedwait, &awaited, NULL, NULL, 8);
        if (signal == SIGTERM) call(SYS_kill, helper, SIGTERM);
        for (;;) {
            int status = 0;
            long ended = call(SYS_wait4, -1, &status, WNOHANG, NULL);
            if (ended <= 0) break;
            if (ended != helper) continue;
            struct launch_report record = {LAUNCH_REPORT_ENDED, (uint32_t)status, 0};
            call(SYS_write, 0, &record, sizeof record);
            // With its init the kernel ends everything else in the namespace.
            call(SYS_exit_group, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        }
    }
}
