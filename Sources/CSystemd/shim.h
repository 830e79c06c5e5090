#pragma once

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>

/* prctl(2) is variadic, which Swift cannot call. */
static inline int csystemd_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/* Whoever comes from this process stays below it, also when its own parent ends. */
static inline int csystemd_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

/* SCM_MAX_FD of the kernel: so many descriptors come with one message at most. */
#define CSYSTEMD_MAXIMUM_PASSED 253

/* recvmsg(2) on a unix socket: as read(2), and the descriptors that came along, closed by exec; the caller's to close. */
static inline ssize_t csystemd_receive(int socket, void *octets, size_t length, int passed[CSYSTEMD_MAXIMUM_PASSED], int *count) {
    union {
        char octets[CMSG_SPACE(CSYSTEMD_MAXIMUM_PASSED * sizeof(int))];
        struct cmsghdr header;
    } control;
    struct iovec part = {octets, length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    *count = 0;
    if (received < 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const int *descriptors = (const int *)CMSG_DATA(header);
        for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= header->cmsg_len && *count < CSYSTEMD_MAXIMUM_PASSED; i++)
            passed[(*count)++] = descriptors[i];
    }
    return received;
}
