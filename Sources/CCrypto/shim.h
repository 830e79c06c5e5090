#pragma once
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

// SHA-256 of a certificate's public key (SubjectPublicKeyInfo). Returns 1 on success; frees the certificate.
static inline int ccrypto_key_hash(X509 *certificate, unsigned char hash[32]) {
    if (!certificate) return 0;
    unsigned char *encoded = NULL;
    int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded);
    if (length > 0) SHA256(encoded, (size_t)length, hash);
    OPENSSL_free(encoded);
    X509_free(certificate);
    return length > 0;
}
// The key hash of a connection's peer, and of a certificate in DER.
static inline int ccrypto_peer_key_hash(void *ssl, unsigned char hash[32]) {
    return ccrypto_key_hash(SSL_get1_peer_certificate((SSL *)ssl), hash);
}
static inline int ccrypto_certificate_key_hash(const unsigned char *der, long length, unsigned char hash[32]) {
    return ccrypto_key_hash(d2i_X509(NULL, &der, length), hash);
}
// Lets a connection end without close_notify, as browsers do: HTTP itself shows whether an answer is complete. libcurl 7.88 does so by itself, 8.14
// does not.
static inline void ccrypto_accept_plain_end(void *ssl) { SSL_set_options((SSL *)ssl, SSL_OP_IGNORE_UNEXPECTED_EOF); }
