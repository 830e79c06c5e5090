#define _GNU_SOURCE
#include "launch.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// SCM_MAX_FD of the kernel: so many descriptors go with one message at most.
enum { AT_ONCE = 253 };

int launch_send_copies(int socket, int descriptor, int count) {
    union {
        char octets[CMSG_SPACE(AT_ONCE * sizeof(int))];
        struct cmsghdr header;
    } control;
    int copies[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) copies[i] = descriptor;
    while (count > 0) {
        int number = count < AT_ONCE ? count : AT_ONCE;
        char octet = 0;
        struct iovec part = {&octet, 1};
        struct msghdr message = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(number * sizeof(int))};
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(number * sizeof(int));
        memcpy(CMSG_DATA(header), copies, number * sizeof(int));
        if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0) return errno;
        count -= number;
    }
    return 0;
}
