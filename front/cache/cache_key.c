#include "front/cache/cache_key.h"

#include <errno.h>
#include <fcntl.h>
#include <gcrypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <xxhash.h>

#include "front/base/say.h"
#include "front/base/tools.h"
#include "front/files/resemblance.h"
#include "support/memory.h"

#define PIECE          (1 << 20)
#define ATTRIBUTE_SIZE 65536 /* the kernel's limit */
#define GCRYPT_NEEDED  "1.8.0"

/* --- SHA-256 --- */

static gcry_md_hd_t begin(void)
{
    gcry_md_hd_t hash = NULL;

    if (!gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) {
        if (!gcry_check_version(GCRYPT_NEEDED))
            say_and_exit(STATUS_FAILED, "expected libgcrypt " GCRYPT_NEEDED " or later, found %s",
                         gcry_check_version(NULL));
        gcry_control(GCRYCTL_DISABLE_SECMEM, 0); /* nothing here is secret */
        gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    }
    if (gcry_md_open(&hash, GCRY_MD_SHA256, 0))
        say_and_exit(STATUS_FAILED, "libgcrypt has no SHA-256");
    return hash;
}

static void end(gcry_md_hd_t hash, uint8_t digest[DIGEST_SIZE])
{
    memcpy(digest, gcry_md_read(hash, GCRY_MD_SHA256), DIGEST_SIZE);
    gcry_md_close(hash);
}

static void add_text(gcry_md_hd_t hash, const char *text)
{
    gcry_md_write(hash, text, strlen(text) + 1);
}

/* Read and not mapped: its owner may cut it meanwhile. */
static bool add_content(gcry_md_hd_t hash, XXH3_state_t *state, int file)
{
    unsigned char *bytes = memory_zeroed(1, PIECE);
    off_t at = 0;
    ssize_t count;

    while ((count = pread(file, bytes, PIECE, at)) > 0 && at <= CACHE_LARGEST) {
        gcry_md_write(hash, bytes, (size_t)count);
        XXH3_64bits_update(state, bytes, (size_t)count);
        at += count;
    }
    free(bytes);
    if (count > 0)
        errno = EFBIG;
    return count == 0;
}

/* *other is XXH3 64 of the same. */
static bool hash_content(int file, uint8_t digest[DIGEST_SIZE], uint64_t *other)
{
    XXH3_state_t *state = memory_or_exit(XXH3_createState(), 1);
    gcry_md_hd_t hash = begin();
    bool ok;

    XXH3_64bits_reset(state);
    ok = add_content(hash, state, file);
    end(hash, digest);
    *other = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return ok;
}

/* --- what instruments --- */

static void add_tool(gcry_md_hd_t hash, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t digest[DIGEST_SIZE];
    uint64_t other;

    if (file < 0 || !hash_content(file, digest, &other))
        say_and_exit(STATUS_FAILED, "%s: cannot be read: %s", path, strerror(errno));
    close(file);
    gcry_md_write(hash, digest, sizeof(digest));
    add_text(hash, path);
}

struct cache_tools cache_tools_hash(const struct words *options)
{
    const struct tools *found = tools_find();
    struct cache_tools tools;
    gcry_md_hd_t hash = begin();

    add_tool(hash, found->instrument);
    for (size_t i = 0; i < PROCESSORS; i++)
        if (found->agents[i])
            add_tool(hash, found->agents[i]);
    for (size_t i = 0; i < options->count; i++) {
        add_text(hash, options->list[i]);
        if (!strncmp(options->list[i], "--filter=", 9))
            add_tool(hash, options->list[i] + 9);
    }
    end(hash, tools.digest);
    return tools;
}

/* --- the key --- */

static void add_facts(gcry_md_hd_t hash, const struct stat *status)
{
    const int64_t facts[] = {
        (int64_t)status->st_mode,        (int64_t)status->st_uid,          (int64_t)status->st_gid,
        (int64_t)status->st_mtim.tv_sec, (int64_t)status->st_mtim.tv_nsec,
    };

    gcry_md_write(hash, facts, sizeof(facts));
}

static void add_access(gcry_md_hd_t hash, int file)
{
    char *value = memory_zeroed(1, ATTRIBUTE_SIZE);

    for (int i = 0; i < RESEMBLANCE_ATTRIBUTES; i++) {
        int64_t size = fgetxattr(file, resemblance_attributes[i], value, ATTRIBUTE_SIZE);
        gcry_md_write(hash, &size, sizeof(size));
        gcry_md_write(hash, value, size > 0 ? (size_t)size : 0);
    }
    free(value);
}

static void print(const uint8_t digest[DIGEST_SIZE], char text[CACHE_KEY_LENGTH + 1])
{
    for (int i = 0; i < DIGEST_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

bool cache_key_make(struct cache_key *key, const struct cache_tools *tools, int file,
                    const struct stat *status, const char *path)
{
    uint8_t content[DIGEST_SIZE], digest[DIGEST_SIZE];
    gcry_md_hd_t hash;

    if (!hash_content(file, content, &key->content_hash))
        return false;
    hash = begin();
    gcry_md_write(hash, tools->digest, sizeof(tools->digest));
    add_facts(hash, status);
    add_access(hash, file);
    add_text(hash, path);
    gcry_md_write(hash, content, sizeof(content));
    end(hash, digest);
    print(digest, key->text);
    return true;
}
