#define _GNU_SOURCE
#include "confine.h"
#include "kernel.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

// Newer than the headers of some systems (seccomp(2), seccomp_unotify(2)): Linux 5.0, 5.5 and 5.19.
#ifndef SECCOMP_RET_USER_NOTIF
#define SECCOMP_RET_USER_NOTIF 0x7fc00000U
#endif
enum { SET_FILTER = 1, NEW_LISTENER = 1 << 3, WAIT_KILLABLE = 1 << 5 };
enum { GO_ON = 1 };
#define RECEIVE 0xc0502100U
#define SEND 0xc0182101U

// What is no call of this architecture another filter refuses.
static const struct sock_filter connections[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

int launch_meter(const struct launch_plan *plan, uint32_t *levels) {
    if (!(plan->wanted & LAUNCH_CONNECTION_LIMIT)) return -1;
    struct sock_fprog program = {sizeof connections / sizeof *connections, (struct sock_filter *)connections};
    // A kernel that knows the second flag knows how to let a call go on as well.
    int meter = (int)call(SYS_seccomp, SET_FILTER, NEW_LISTENER | WAIT_KILLABLE, &program);
    if (meter < 0) return -1;
    *levels |= LAUNCH_CONNECTION_LIMIT;
    return meter;
}

// Nothing of the call is looked at: its arguments are in memory that the helper may change at any time.
void launch_let_go(int meter) {
    // As large as the kernel's, and zeros before (80 octets in Linux 6.18).
    uint64_t asked[10];
    for (int i = 0; i < 10; i++) asked[i] = 0;
    if (call(SYS_ioctl, meter, RECEIVE, asked) < 0) return;
    struct { uint64_t id; int64_t value; int32_t error; uint32_t flags; } answer = {asked[0], 0, 0, GO_ON};
    call(SYS_ioctl, meter, SEND, &answer);
}
