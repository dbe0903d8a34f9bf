/*
 * What an instrumented file is found by: all that it depends on, and whose it is.
 *
 *      KEY = SHA-256 of
 *          tools      SHA-256 of `instrument`, of the agent, of their paths, and of the options
 *          facts      mode, owner, group and time of the original, as 64-bit numbers
 *          access     its access list and labels, each with its size
 *          path       with its zero
 *          content    SHA-256 of it
 *
 * A hash that nobody can find a second file for: the content is chosen by whoever owns the file,
 * and what one user's file has become must never be executed in another's place.
 *
 * libgcrypt's SHA-256 (the best of 5 runs over 64 MB, EPYC family 26, model 2, 2026-11-24): 1.81
 * GB/s; its BLAKE2b 0.99. OpenSSL's libcrypto has the same speed, but reads a configuration that
 * the environment names (OPENSSL_CONF) and loads what that says, also as root.
 */
#ifndef UMBRA_FRONT_CACHE_KEY_H
#define UMBRA_FRONT_CACHE_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "front/base/words.h"

#define DIGEST_SIZE      32                /* SHA-256 */
#define CACHE_KEY_LENGTH (2 * DIGEST_SIZE) /* as text */
#define CACHE_LARGEST    (2ll << 30) /* bytes of a file that is instrumented: all others wait */

struct cache_tools {
    uint8_t digest[DIGEST_SIZE];
};

struct cache_key {
    char text[CACHE_KEY_LENGTH + 1];
    uint64_t content_hash; /* XXH3 64 of the content, as the manifest has it */
};

/* Hashes what instruments, with these options. Ends the process with a message if it cannot be
   read. */
struct cache_tools cache_tools_hash(const struct words *options);

/* Makes the key of what is open and lies at that path. False with errno; EFBIG of more than
   CACHE_LARGEST. */
bool cache_key_make(struct cache_key *key, const struct cache_tools *tools, int file,
                    const struct stat *status, const char *path);

#endif
