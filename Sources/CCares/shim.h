#pragma once
#include <ares.h>

// The codes as numbers: since 1.27 they are an enumeration, which Swift imports as a type of its own.
static const int cares_success = ARES_SUCCESS;
static const int cares_timeout = ARES_ETIMEOUT;
static const int cares_refused = ARES_ECONNREFUSED;
static const int cares_destroyed = ARES_EDESTRUCTION;
