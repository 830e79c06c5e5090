#pragma once
#include <sqlite3.h>

// Wrappers for Swift, which cannot import the cast SQLITE_TRANSIENT, nor the variadic sqlite3_config and sqlite3_db_config.
static inline int hotspotd_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int length) {
    return sqlite3_bind_text(statement, index, length ? text : "", length, SQLITE_TRANSIENT);
}

static inline int hotspotd_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *octets, int length) {
    return sqlite3_bind_blob(statement, index, length ? octets : "", length, SQLITE_TRANSIENT);
}

static inline int hotspotd_sqlite_defensive(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

static inline int hotspotd_sqlite_page_by_page(void) {
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
}
