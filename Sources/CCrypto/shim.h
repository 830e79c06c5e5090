#pragma once
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

// SHA-256 of the public key (SubjectPublicKeyInfo) of a connection's peer; 1 if there is one.
static inline int ccrypto_peer_key_hash(void *ssl, unsigned char hash[32]) {
    X509 *certificate = SSL_get1_peer_certificate((SSL *)ssl);
    if (!certificate) return 0;
    unsigned char *encoded = NULL;
    int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded);
    if (length > 0) SHA256(encoded, (size_t)length, hash);
    OPENSSL_free(encoded);
    X509_free(certificate);
    return length > 0;
}
