#include "CCommit.h"

const char *hotspotd_commit(void) { return HOTSPOTD_COMMIT; }
