#pragma once
#include <stddef.h>

/// Octets of the heap that are in use, by mallinfo2(3), which Swift's Glibc does not have.
size_t heap_in_use(void);
