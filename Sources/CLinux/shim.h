#pragma once

#include <arpa/inet.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
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

/* glibc contains capset(2), but only libcap's headers declare it. */
int capset(cap_user_header_t header, const cap_user_data_t data);
static inline int clinux_drop_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    return capset(&header, none);
}

/* ioctl(2) is variadic. These write an interface's first IPv4 address (four octets), and its hardware address (six octets). */
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

/* A packet socket (packet(7)) for one link, which receives only DHCP answers (IPv4), or DHCPv6 replies and router advertisements (IPv6).
   Its filter, which is made of macros, is attached before the socket is bound. Returns -1 with errno. */
static inline int clinux_answers(unsigned int index, int is_ipv6) {
    struct sock_filter ipv4[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 6),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 6), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x3FFF, 4, 0),
        BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0), BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 67 << 16 | 68, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 65536), BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_filter ipv6[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMPV6, 0, 2),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 40), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 134, 3, 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 3), BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 40),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 547 << 16 | 546, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 65536), BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog program = {9, is_ipv6 ? ipv6 : ipv4};
    struct sockaddr_ll place = {0};
    place.sll_family = AF_PACKET;
    place.sll_protocol = htons(is_ipv6 ? ETH_P_IPV6 : ETH_P_IP);
    place.sll_ifindex = (int)index;
    int descriptor = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0 || setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0
        || bind(descriptor, (struct sockaddr *)&place, sizeof place) != 0)
        return -1;
    return descriptor;
}
/* Receives a packet without the link's header, and the six octets of its sender's MAC address. Returns 0 for a packet to another host, and for a
   link without such addresses; -1 with errno. */
static inline ssize_t clinux_receive(int descriptor, void *octets, size_t size, unsigned char *hardware) {
    struct sockaddr_ll sender = {0};
    socklen_t length = sizeof sender;
    ssize_t count = recvfrom(descriptor, octets, size, 0, (struct sockaddr *)&sender, &length);
    if (count < 0) return count;
    if (sender.sll_halen != 6 || sender.sll_pkttype > PACKET_MULTICAST) return 0;
    memcpy(hardware, sender.sll_addr, 6);
    return count;
}

/* Sends one descriptor over a Unix socket (unix(7), SCM_RIGHTS), together with one octet. Returns 0, or -1 with errno. */
static inline int clinux_send_descriptor(int connection, int descriptor) {
    char octet = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&octet, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return sendmsg(connection, &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}
/* Receives one octet and returns its descriptor, which is closed on exec; 0 if the octet has no descriptor, -1 with errno. */
static inline int clinux_receive_descriptor(int connection) {
    char octet = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&octet, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    int descriptor = 0;
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS
        && header->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}

/* Declared here, because glibc declares them only with _GNU_SOURCE or in malloc.h, and Swift's Glibc module has neither. */
int malloc_trim(size_t pad);
int pipe2(int ends[2], int flags);
int memfd_create(const char *name, unsigned int flags);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
