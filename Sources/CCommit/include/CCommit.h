#pragma once

/// The commit that this was built from; empty if the build did not say.
const char *_Nonnull hotspotd_commit(void);
