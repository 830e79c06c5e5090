#pragma once

/* L2CAP sockets over Bluetooth LE. These numbers and this address structure are the kernel's (include/net/bluetooth/bluetooth.h and
   l2cap.h of Linux 6.1); only libbluetooth-dev has headers that declare them. */

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CLINUX_BTPROTO_L2CAP = 0,
    CLINUX_SOL_BLUETOOTH = 274,
    CLINUX_BT_SECURITY = 4,
    CLINUX_BT_SECURITY_LOW = 1,
    CLINUX_BT_SNDMTU = 12,
    CLINUX_BT_RCVMTU = 13,
    CLINUX_BDADDR_LE_PUBLIC = 1,
    CLINUX_BDADDR_LE_RANDOM = 2,
};

/* struct sockaddr_l2. Numbers are little-endian, and an address has its last octet first. */
struct clinux_l2cap_address {
    sa_family_t family;
    uint8_t psm[2];
    uint8_t device[6];
    uint8_t cid[2];
    uint8_t type;
};

static inline struct clinux_l2cap_address clinux_l2cap_address(const unsigned char *device, int is_random, int psm) {
    struct clinux_l2cap_address address = {.family = AF_BLUETOOTH, .psm = {(uint8_t)psm, 0}};
    memcpy(address.device, device, sizeof address.device);
    address.type = is_random ? CLINUX_BDADDR_LE_RANDOM : CLINUX_BDADDR_LE_PUBLIC;
    return address;
}

/* A socket at an adapter's address, with a PSM from 0x80 to 0xFF that the kernel chooses. It does not require pairing. Returns -1 with errno. */
static inline int clinux_l2cap_socket(const unsigned char *device, int is_random, uint16_t mtu) {
    struct clinux_l2cap_address address = clinux_l2cap_address(device, is_random, 0);
    struct { uint8_t level, key_size; } security = {CLINUX_BT_SECURITY_LOW, 0};
    int descriptor = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, CLINUX_BTPROTO_L2CAP);
    if (descriptor < 0) return -1;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0
        && setsockopt(descriptor, CLINUX_SOL_BLUETOOTH, CLINUX_BT_SECURITY, &security, sizeof security) == 0
        && setsockopt(descriptor, CLINUX_SOL_BLUETOOTH, CLINUX_BT_RCVMTU, &mtu, sizeof mtu) == 0)
        return descriptor;
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

/* Begins a connection. Returns 0 while it is under way, or -1 with errno. */
static inline int clinux_l2cap_connect(int descriptor, const unsigned char *device, int is_random, int psm) {
    struct clinux_l2cap_address address = clinux_l2cap_address(device, is_random, psm);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0 || errno == EINPROGRESS) return 0;
    return -1;
}

/* Returns the PSM that the kernel chose, or -1 with errno. */
static inline int clinux_l2cap_psm(int descriptor) {
    struct clinux_l2cap_address address = {0};
    socklen_t length = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) return -1;
    return address.psm[1] << 8 | address.psm[0];
}

/* glibc declares it only with _GNU_SOURCE: see the end of shim.h. */
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);

/* Accepts a connection, and writes the six octets of the other device's address. Returns -1 with errno. */
static inline int clinux_l2cap_accept(int descriptor, unsigned char *device) {
    struct clinux_l2cap_address address = {0};
    socklen_t length = sizeof address;
    int accepted = accept4(descriptor, (struct sockaddr *)&address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted >= 0) memcpy(device, address.device, sizeof address.device);
    return accepted;
}

/* Returns the largest packet that the other device takes, or -1 with errno. */
static inline int clinux_l2cap_send_mtu(int descriptor) {
    uint16_t mtu = 0;
    socklen_t length = sizeof mtu;
    return getsockopt(descriptor, CLINUX_SOL_BLUETOOTH, CLINUX_BT_SNDMTU, &mtu, &length) == 0 ? mtu : -1;
}

/* Returns 0 if such sockets can be made here, or -1 with errno. */
static inline int clinux_l2cap_probe(void) {
    int descriptor = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC, CLINUX_BTPROTO_L2CAP);
    return descriptor < 0 ? -1 : close(descriptor);
}
