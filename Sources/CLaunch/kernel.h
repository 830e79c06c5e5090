// System calls without the C library: it keeps errno in thread-local data, and that is gone in the child (see launch_forget).
// Arguments that are left out are 0. Returns what the kernel returns: a negative errno is a failure.
#pragma once
#include <errno.h>
#include <linux/audit.h>
#include <sys/syscall.h>

// By what filters of system calls know this architecture. On any other the compilation ends below.
#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

#define call(...) CALL_WITH_SIX(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define CALL_WITH_SIX(number, a, b, c, d, e, f, ...)                                                                              \
    kernel_call((long)(number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

// Part of its caller, because it must not look for the stack protector's canary after a call that has turned it to zeros.
__attribute__((always_inline, no_stack_protector)) static inline long kernel_call(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
    long result = number;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#else
#error "hotspotd runs on x86_64 and aarch64: add the convention of this architecture here, and its number in filter.c"
#endif
}
