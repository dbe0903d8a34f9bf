#include "front/calls/stat_answer.h"

#include <string.h>
#include <sys/sysmacros.h>

#define LARGEST_FILE     0x7fffffff /* of a call that knows no larger ones */
#define NOBODY_OF_16_BIT 65534      /* who owns it if the number is larger: fs.overflowuid */

struct times {
    uint32_t accessed[2], modified[2], changed[2];
};

struct stat_i386 {
    uint32_t device, inode;
    uint16_t mode, links, user, group;
    uint32_t of_device, size, block_size, blocks;
    struct times times;
    uint32_t unused[2];
};

struct stat64_i386 {
    uint64_t device;
    uint32_t unused, inode_low;
    uint32_t mode, links, user, group;
    uint64_t of_device;
    uint32_t unused_too;
    int64_t size;
    uint32_t block_size;
    uint64_t blocks;
    struct times times;
    uint64_t inode;
} __attribute__((packed));

_Static_assert(sizeof(struct stat_i386) == 64, "struct stat");
_Static_assert(sizeof(struct stat64_i386) == 96, "struct stat64");

static struct times times_of(const struct stat *status)
{
    return (struct times){
        {(uint32_t)status->st_atim.tv_sec, (uint32_t)status->st_atim.tv_nsec},
        {(uint32_t)status->st_mtim.tv_sec, (uint32_t)status->st_mtim.tv_nsec},
        {(uint32_t)status->st_ctim.tv_sec, (uint32_t)status->st_ctim.tv_nsec},
    };
}

/* The kernel's encoding for user space, new_encode_dev: minors beyond 255 stand above the major. */
static uint32_t encode(dev_t device)
{
    uint32_t minor = minor(device);

    return (minor & 0xff) | major(device) << 8 | (minor & ~0xffu) << 12;
}

static uint16_t narrow_owner(uint32_t owner)
{
    return owner > UINT16_MAX ? NOBODY_OF_16_BIT : (uint16_t)owner;
}

static bool make_stat(struct stat_i386 *to, const struct stat *status)
{
    *to = (struct stat_i386){
        .device = encode(status->st_dev),
        .inode = (uint32_t)status->st_ino,
        .mode = (uint16_t)status->st_mode,
        .links = (uint16_t)status->st_nlink,
        .user = narrow_owner(status->st_uid),
        .group = narrow_owner(status->st_gid),
        .of_device = encode(status->st_rdev),
        .size = (uint32_t)status->st_size,
        .block_size = (uint32_t)status->st_blksize,
        .blocks = (uint32_t)status->st_blocks,
        .times = times_of(status),
    };
    return to->inode == status->st_ino && to->links == status->st_nlink &&
           status->st_size <= LARGEST_FILE;
}

static void make_stat64(struct stat64_i386 *to, const struct stat *status)
{
    *to = (struct stat64_i386){
        .device = encode(status->st_dev),
        .inode_low = (uint32_t)status->st_ino,
        .mode = status->st_mode,
        .links = (uint32_t)status->st_nlink,
        .user = status->st_uid,
        .group = status->st_gid,
        .of_device = encode(status->st_rdev),
        .size = status->st_size,
        .block_size = (uint32_t)status->st_blksize,
        .blocks = (uint64_t)status->st_blocks,
        .times = times_of(status),
        .inode = status->st_ino,
    };
}

bool stat_answer_make(struct stat_answer *answer, const struct stat *status, enum call_world world,
                      enum call_kind kind)
{
    struct stat64_i386 large;
    struct stat_i386 small;

    if (kind == CALL_STAT64) {
        make_stat64(&large, status);
        memcpy(answer->bytes, &large, sizeof(large));
        answer->size = sizeof(large);
        return true;
    }
    if (world == CALLS_OF_X86_64) {
        answer->own = *status;
        answer->size = sizeof(*status);
        return true;
    }
    if (!make_stat(&small, status))
        return false;
    memcpy(answer->bytes, &small, sizeof(small));
    answer->size = sizeof(small);
    return true;
}
