#pragma once
#include <curl/curl.h>

// libcurl's options are variadic, which Swift cannot call: one typed wrapper for each kind of argument.
static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return (curl_easy_setopt)(easy, option, value);
}
// CURL_NETRC_IGNORED as a number: it is an enumeration constant before 8.14, and a macro since.
static const long ccurl_netrc_ignored = CURL_NETRC_IGNORED;
// CURLE_TOO_LARGE, since 8.6: an endless header line, or an address that is too long. Earlier versions report CURLE_OUT_OF_MEMORY.
static const CURLcode ccurl_too_large = (CURLcode)100;

static inline CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return (curl_easy_setopt)(easy, option, value);
}
static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
    return (curl_easy_setopt)(easy, option, value);
}
static inline CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return (curl_easy_setopt)(easy, option, value);
}

// The callbacks of one transfer, all with the same user data.
static inline CURLcode ccurl_set_callbacks(CURL *easy, void *data, curl_write_callback write, curl_write_callback header,
                                           curl_xferinfo_callback progress, curl_opensocket_callback socket,
                                           curl_sockopt_callback ready, curl_prereq_callback before) {
    CURLcode code = (curl_easy_setopt)(easy, CURLOPT_WRITEFUNCTION, write);
    if (!code) code = (curl_easy_setopt)(easy, CURLOPT_WRITEDATA, data);
    if (!code) code = (curl_easy_setopt)(easy, CURLOPT_HEADERFUNCTION, header);
    if (!code) code = (curl_easy_setopt)(easy, CURLOPT_HEADERDATA, data);
    if (!code) code = (curl_easy_setopt)(easy, CURLOPT_XFERINFOFUNCTION, progress);
    if (!code) code = (curl_easy_setopt)(easy, CURLOPT_XFERINFODATA, data);
    if (!code) code = (curl_easy_setopt)(easy, CURLOPT_NOPROGRESS, 0L);
    if (!code) code = (curl_easy_setopt)(easy, CURLOPT_OPENSOCKETFUNCTION, socket);
    if (!code) code = (curl_easy_setopt)(easy, CURLOPT_OPENSOCKETDATA, data);
    if (!code) code = (curl_easy_setopt)(easy, CURLOPT_SOCKOPTFUNCTION, ready);
    if (!code) code = (curl_easy_setopt)(easy, CURLOPT_SOCKOPTDATA, data);
    if (!code) code = (curl_easy_setopt)(easy, CURLOPT_PREREQFUNCTION, before);
    if (!code) code = (curl_easy_setopt)(easy, CURLOPT_PREREQDATA, data);
    return code;
}

static inline CURLcode ccurl_set_share(CURL *easy, CURLSH *share) { return (curl_easy_setopt)(easy, CURLOPT_SHARE, share); }
// Shares TLS sessions between transfers without locks: only one thread at a time may use the share.
static inline CURLSHcode ccurl_share_tls_sessions(CURLSH *share) {
    return (curl_share_setopt)(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
}

static inline long ccurl_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return (curl_easy_getinfo)(easy, info, &value) ? 0 : value;
}
static inline struct curl_slist *ccurl_get_list(CURL *easy, CURLINFO info) {
    struct curl_slist *value = NULL;
    return (curl_easy_getinfo)(easy, info, &value) ? NULL : value;
}
static inline const char *ccurl_get_string(CURL *easy, CURLINFO info) {
    const char *value = NULL;
    return (curl_easy_getinfo)(easy, info, &value) ? NULL : value;
}

// The SSL object of a transfer's connection, valid only within a callback; NULL without TLS or with a TLS library other than OpenSSL.
static inline void *ccurl_get_tls(CURL *easy) {
    struct curl_tlssessioninfo *info = NULL;
    if ((curl_easy_getinfo)(easy, CURLINFO_TLS_SSL_PTR, &info) || !info) return NULL;
    return info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return (curl_multi_setopt)(multi, option, value);
}

// The outcome of the only transfer of a multi handle; CURLE_AGAIN if it has not ended.
static inline CURLcode ccurl_multi_outcome(CURLM *multi) {
    int left = 0;
    CURLMsg *message = curl_multi_info_read(multi, &left);
    return message && message->msg == CURLMSG_DONE ? message->data.result : CURLE_AGAIN;
}

// The folder of certificate authorities with which this libcurl was built, or NULL.
static inline const char *ccurl_authorities_folder(void) {
    const curl_version_info_data *information = curl_version_info(CURLVERSION_NOW);
    return information && information->age >= CURLVERSION_SEVENTH ? information->capath : NULL;
}
