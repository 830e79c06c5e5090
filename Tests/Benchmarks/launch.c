// How long a contained start takes beside a bare spawn: /bin/true from the call until it is reaped. helpers.py builds and runs this.
#include "launch.h"
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 200 };
static double whole[ROUNDS], call[ROUNDS];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static int ascending(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

static double median(double *times) {
    qsort(times, ROUNDS, sizeof *times, ascending);
    return times[ROUNDS / 2];
}

static char *const arguments[] = {"/bin/true", NULL};
static char *const environment[] = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", NULL};

static uint32_t contained(const char *folder, uint32_t wanted) {
    char scratch[256], state[256];
    snprintf(scratch, sizeof scratch, "%s/scratch", folder);
    snprintf(state, sizeof state, "%s/state", folder);
    mkdir(scratch, 0700);
    mkdir(state, 0700);
    const char *hidden[] = {state, NULL};
    struct launch_plan plan = {
        .program = arguments[0],
        .arguments = (const char *const *)arguments,
        .environment = (const char *const *)environment,
        .input = 0, .output = 1, .error = 2,
        .scratch = scratch, .scratch_size = 32 << 20, .hidden = hidden,
        .limits = {4UL << 30, 256 << 20, 60, 64, 256, 64 << 20},
        .user = geteuid(), .group = getegid(), .wanted = wanted,
    };
    uint32_t levels = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct launch_result result;
        double began = now();
        if (launch(&plan, &result) != 0) exit(1);
        call[i] = now() - began;
        struct pollfd ended = {.fd = result.pidfd, .events = POLLIN};
        int status;
        while (launch_reap(&result, &status) == 0) poll(&ended, 1, -1);
        whole[i] = now() - began;
        struct launch_report record;
        while (read(result.report, &record, sizeof record) == sizeof record)
            if (record.kind == LAUNCH_REPORT_REACHED) levels = record.first;
        close(result.pidfd);
        close(result.report);
    }
    rmdir(scratch);
    rmdir(state);
    return levels;
}

int main(void) {
    char folder[] = "/tmp/hotspotd-launch-XXXXXX";
    if (!mkdtemp(folder)) return 1;
    // As much memory as a daemon has: it is what a copy of a process costs.
    size_t size = 16 << 20;
    char *memory = malloc(size);
    memset(memory, 1, size);
    for (int i = 0; i < ROUNDS; i++) {
        double began = now();
        pid_t pid;
        if (posix_spawn(&pid, arguments[0], NULL, NULL, arguments, environment) != 0) return 1;
        waitpid(pid, NULL, 0);
        whole[i] = now() - began;
    }
    printf("/bin/true from call to end, medians of %d: bare spawn %.1f ms", ROUNDS, median(whole));
    uint32_t levels = contained(folder, LAUNCH_ALL & ~LAUNCH_NO_NETWORK);
    printf("; contained %.1f ms (%.1f ms of it in the daemon), levels %#x", median(whole), median(call), levels);
    levels = contained(folder, LAUNCH_ALL);
    printf("; without network as well %.1f ms, levels %#x\n", median(whole), levels);
    free(memory);
    rmdir(folder);
    return 0;
}
