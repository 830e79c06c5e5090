#pragma once

#include <seccomp.h>

/* Macros that Swift does not import. */
static inline uint32_t cseccomp_errno(uint16_t code) { return SCMP_ACT_ERRNO(code); }
static const uint32_t CSECCOMP_ALLOW = SCMP_ACT_ALLOW;
