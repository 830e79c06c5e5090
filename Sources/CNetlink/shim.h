#pragma once
#include <netlink/netlink.h>
#include <netlink/msg.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/genl/ctrl.h>
#include <linux/nl80211.h>
#include <linux/rtnetlink.h>
#include <linux/fib_rules.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/filter.h>
#include <linux/neighbour.h>
#include <arpa/inet.h>
#include <stddef.h>
#include <sys/socket.h>

/* Lets the kernel drop all messages except reports that a neighbour of one link came into use: its state is reachable, probe or failed. A filter
   reads numbers in network order, but netlink writes them in the machine's order, so the constants are swapped. Returns -1 with errno. */
static inline int cnetlink_accept_use(int descriptor, int index) {
    const unsigned int header = NLMSG_HDRLEN;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, offsetof(struct nlmsghdr, nlmsg_type)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_NEWNEIGH), 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, header + offsetof(struct ndmsg, ndm_ifindex)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl((unsigned int)index), 0, 3),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, header + offsetof(struct ndmsg, ndm_state)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, htons(NUD_REACHABLE | NUD_PROBE | NUD_FAILED), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0xFFFFFFFF),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}
