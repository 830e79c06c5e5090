#define _GNU_SOURCE
#include "launch.h"
#include "confine.h"
#include "kernel.h"
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// The numbers are the same on every architecture since Linux 5.1.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define CLOSE_RANGE_CLOEXEC_FLAG (1U << 2)
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

void launch_report(int descriptor, uint32_t kind, uint32_t first, uint32_t second) {
    struct launch_report record = {kind, first, second};
    // Shorter than PIPE_BUF, hence in one piece. If nobody listens there is nobody to tell.
    (void)call(SYS_write, descriptor, &record, sizeof record);
}

__attribute__((noreturn)) static void give_up(int descriptor, uint32_t stage, int code) {
    launch_report(descriptor, LAUNCH_REPORT_FAILED, stage, (uint32_t)code);
    for (;;) call(SYS_exit_group, 127);
}

// What the daemon handles or ignores (SIGPIPE) must not be inherited.
static void reset_signals(void) {
    uint64_t action[4] = {0, 0, 0, 0};
    for (int signal = 1; signal <= 64; signal++) call(SYS_rt_sigaction, signal, action, NULL, 8);
}

static void unblock_signals(void) {
    uint64_t none = 0;
    call(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, 8);
}

// Descriptors 0, 1, 2 and the listeners from 3; the report pipe behind them. Everything else is closed by exec.
static int arrange_descriptors(const struct launch_plan *plan, int *report_pipe) {
    int count = 3 + (int)plan->listener_count;
    int sources[3 + LAUNCH_MAXIMUM_LISTENERS];
    sources[0] = plan->input;
    sources[1] = plan->output;
    sources[2] = plan->error;
    for (uint32_t i = 0; i < plan->listener_count; i++) sources[3 + i] = plan->listeners[i];
    // First out of the way, so that no target overwrites a source.
    for (int i = 0; i < count; i++) {
        sources[i] = (int)call(SYS_fcntl, sources[i], F_DUPFD_CLOEXEC, count + 1);
        if (sources[i] < 0) return -sources[i];
    }
    int moved = (int)call(SYS_fcntl, *report_pipe, F_DUPFD_CLOEXEC, count + 1);
    if (moved < 0) return -moved;
    long result = 0;
    for (int i = 0; i < count && result >= 0; i++) result = call(SYS_dup3, sources[i], i, 0);
    if (result >= 0) result = call(SYS_dup3, moved, count, O_CLOEXEC);
    if (result < 0) return (int)-result;
    *report_pipe = count;
    if (call(SYS_close_range, count + 1, ~0U, 0) < 0) {
        // Before Linux 5.9 one by one, as far as the limit goes.
        struct rlimit limit = {0, 0};
        call(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
        for (int i = count + 1; i < (int)limit.rlim_cur && i < 65536; i++) call(SYS_close, i);
    }
    return 0;
}

// The environment with LISTEN_PID, which only the helper itself can know.
static void add_listen_pid(const struct launch_plan *plan, const char **environment, char *variable) {
    size_t count = 0;
    for (; plan->environment && plan->environment[count] && count < LAUNCH_MAXIMUM_VARIABLES - 2; count++)
        environment[count] = plan->environment[count];
    if (plan->listener_count) {
        const char name[] = "LISTEN_PID=";
        size_t end = sizeof name - 1;
        for (size_t i = 0; i < end; i++) variable[i] = name[i];
        char digits[12];
        size_t length = 0;
        for (long pid = call(SYS_getpid); pid > 0; pid /= 10) digits[length++] = (char)('0' + pid % 10);
        while (length) variable[end++] = digits[--length];
        variable[end] = 0;
        environment[count++] = variable;
    }
    environment[count] = NULL;
}

__attribute__((noreturn)) static void become_helper(const struct launch_plan *plan, uint32_t levels, int report_pipe) {
    call(SYS_setsid);
    call(SYS_umask, 077);
    long result = call(SYS_chdir, "/");
    if (result < 0) give_up(report_pipe, LAUNCH_STAGE_PRIVILEGES, (int)-result);
    levels |= launch_landlock(plan, levels);
    levels |= launch_limit(plan, levels);
    int code = launch_filter(plan, &levels);
    if (code) give_up(report_pipe, LAUNCH_STAGE_PRIVILEGES, code);
    launch_report(report_pipe, LAUNCH_REPORT_REACHED, levels, 0);
    const char *environment[LAUNCH_MAXIMUM_VARIABLES];
    char variable[32];
    add_listen_pid(plan, environment, variable);
    unblock_signals();
    result = call(SYS_execve, plan->program, plan->arguments, environment);
    give_up(report_pipe, LAUNCH_STAGE_EXEC, (int)-result);
}

LAUNCH_UNGUARDED static int child(void *argument) {
    const struct launch_start *start = argument;
    const struct launch_plan *plan = &start->plan;
    uint32_t levels = start->levels;
    int report_pipe = start->report_pipe;
    call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    // Before anything else, so that nothing of it is ever outside; 0 is whoever writes.
    if ((plan->wanted & LAUNCH_OWN_GROUP) && plan->control_group > 0 && call(SYS_write, plan->control_group, "0", 1) == 1)
        levels |= LAUNCH_OWN_GROUP | LAUNCH_PROCESS_LIMIT;
    // The daemon may have died before it was asked for: then nobody reads the report pipe. Its own reading end is a copy here, and
    // goes first with all other descriptors: nobody must wait for the end of a pipe because a launch takes its time.
    int code = arrange_descriptors(plan, &report_pipe);
    if (code) give_up(report_pipe, LAUNCH_STAGE_DESCRIPTORS, code);
    struct pollfd reader = {.fd = report_pipe, .events = 0};
    struct timespec none = {0, 0};
    if (call(SYS_ppoll, &reader, 1, &none, NULL, 8) > 0 && (reader.revents & POLLERR)) call(SYS_exit_group, 127);
    if (launch_forget() < 0) give_up(report_pipe, LAUNCH_STAGE_MEMORY, ENOENT);
    reset_signals();
    call(SYS_setsid);
    levels |= launch_namespaces(plan, levels, report_pipe);
    long result = call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1);
    if (result < 0) give_up(report_pipe, LAUNCH_STAGE_PRIVILEGES, (int)-result);
    levels |= LAUNCH_NO_NEW_PRIVILEGES | launch_drop_capabilities();
    // Again, because a change of credentials clears it (prctl(2)).
    call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (!(levels & LAUNCH_PROCESS_NAMESPACE)) become_helper(plan, levels, report_pipe);
    int meter = launch_meter(plan, &levels);
    long helper = call(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (helper < 0) give_up(report_pipe, LAUNCH_STAGE_FORK, (int)-helper);
    if (helper == 0) become_helper(plan, levels, report_pipe);
    launch_init((pid_t)helper, report_pipe, meter);
}

int launch(const struct launch_plan *plan, struct launch_result *result) {
    if (plan->listener_count > LAUNCH_MAXIMUM_LISTENERS) return E2BIG;
    struct launch_room room;
    int code = launch_make_room(plan, &room);
    if (code) return code;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        code = errno;
        launch_free_room(&room);
        return code;
    }
    // No handler of the daemon may run in the copy.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // Every level down costs something that the report leaves out.
    static const struct { uint64_t flags; uint32_t levels; } ladder[] = {
        {CLONE_NEWPID, LAUNCH_PROCESS_NAMESPACE},
        {CLONE_NEWUSER | CLONE_NEWPID, LAUNCH_USER_NAMESPACE | LAUNCH_PROCESS_NAMESPACE},
        {0, 0},
    };
    long pid = -1;
    int pidfd = -1;
    uint32_t levels = 0;
    for (size_t i = 0; i < sizeof ladder / sizeof *ladder && pid < 0; i++) {
        levels = ladder[i].levels;
        if ((levels & plan->wanted) != levels) continue;
        room.start->levels = levels;
        room.start->report_pipe = ends[1];
        // The old call and not clone3: a filter can look at its flags, so that RestrictNamespaces= of a service manager lets it
        // through, which refuses clone3 altogether. The place of the parent's thread ID takes the pidfd (clone(2), CLONE_PIDFD,
        // Linux 5.2). The stack lies in memory of its own, because the daemon's is forgotten.
        pid = clone(child, room.stack_top, (int)(ladder[i].flags | CLONE_PIDFD | SIGCHLD), room.start, &pidfd, NULL, NULL);
        if (pid < 0 && errno == EAGAIN) break;
    }
    code = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    launch_free_room(&room);
    if (pid < 0) {
        close(ends[0]);
        return code;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(pidfd, F_SETFD, FD_CLOEXEC);
    result->pid = (pid_t)pid;
    result->pidfd = pidfd;
    result->report = ends[0];
    result->has_init = (levels & LAUNCH_PROCESS_NAMESPACE) != 0;
    return 0;
}

void launch_signal(const struct launch_result *process, int signal) {
    // The number is not reused as long as the process is not reaped, so the group is still its own.
    if (!process->has_init) kill(-process->pid, signal);
    syscall(SYS_pidfd_send_signal, process->pidfd, signal, NULL, 0);
}

// P_PIDFD; older headers lack it.
enum { BY_PIDFD = 3 };

int launch_reap(const struct launch_result *process, int *status) {
    siginfo_t information = {0};
    if (waitid((idtype_t)BY_PIDFD, (id_t)process->pidfd, &information, WEXITED | WNOHANG | WNOWAIT) < 0) return -errno;
    if (information.si_pid == 0) return 0;
    // What stayed in the session goes as well, as long as the number is still this process's.
    if (!process->has_init) kill(-process->pid, SIGKILL);
    if (waitid((idtype_t)BY_PIDFD, (id_t)process->pidfd, &information, WEXITED) < 0) return -errno;
    *status = information.si_code == CLD_EXITED ? (information.si_status & 0xff) << 8 : information.si_status & 0x7f;
    return 1;
}

void launch_end(const struct launch_result *process) {
    launch_signal(process, SIGKILL);
    siginfo_t information;
    while (waitid((idtype_t)BY_PIDFD, (id_t)process->pidfd, &information, WEXITED) < 0 && errno == EINTR) {}
    close(process->pidfd);
    close(process->report);
}
