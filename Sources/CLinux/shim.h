#pragma once

#include <linux/capability.h>
#include <malloc.h>
#include <net/if.h>
#include <netinet/in.h>
#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* prctl(2) is variadic, which Swift cannot call. */
static inline int clinux_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
static inline int clinux_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }
static inline int clinux_clear_ambient_capabilities(void) { return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); }
static inline int clinux_add_ambient_capability(int capability) { return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0); }

/* glibc has it, and only libcap's headers declare it. */
int capset(cap_user_header_t header, const cap_user_data_t data);
static inline int clinux_drop_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    return capset(&header, none);
}

/* ioctl(2) is variadic. The interface's first IPv4 address, four octets; its hardware address, six. */
static inline int clinux_interface_address(int descriptor, const char *name, unsigned char *address) {
    struct ifreq request = {{{0}}};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    int result = ioctl(descriptor, SIOCGIFADDR, &request);
    if (result == 0) memcpy(address, &((struct sockaddr_in *)&request.ifr_addr)->sin_addr, 4);
    return result;
}
static inline int clinux_interface_hardware(int descriptor, const char *name, unsigned char *address) {
    struct ifreq request = {{{0}}};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    int result = ioctl(descriptor, SIOCGIFHWADDR, &request);
    if (result == 0) memcpy(address, request.ifr_hwaddr.sa_data, 6);
    return result;
}

/* recvmsg(2) with the macros of its ancillary data. source: sixteen octets, of IPv6 alone; hops: with IPV6_RECVHOPLIMIT alone. */
static inline ssize_t clinux_receive(int descriptor, void *octets, size_t size, unsigned char *source, int *hops) {
    struct sockaddr_in6 sender = {0};
    struct iovec part = {octets, size};
    _Alignas(struct cmsghdr) char control[256];
    struct msghdr message = {&sender, sizeof sender, &part, 1, control, sizeof control, 0};
    ssize_t count = recvmsg(descriptor, &message, 0);
    if (count < 0) return count;
    if (sender.sin6_family == AF_INET6) memcpy(source, &sender.sin6_addr, 16);
    for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item))
        if (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_HOPLIMIT) memcpy(hops, CMSG_DATA(item), sizeof *hops);
    return count;
}

/* Declared for _GNU_SOURCE alone, without which Swift reads glibc's headers; and malloc.h. */
int malloc_trim(size_t pad);
int pipe2(int ends[2], int flags);
int memfd_create(const char *name, unsigned int flags);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
