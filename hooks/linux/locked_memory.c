#include "hooks/linux/locked_memory.h"

#include <dlfcn.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "hooks/linux/maps.h"
#include "hooks/memory.h"
#include "thunkstash/layout.h"
#include "thunkstash/linux/linux_pages.h"
#include "thunkstash/linux/own_memory.h"
#include "thunkstash/linux/syscalls.h"
#include "trace/image_manifest.h"

#define PAGE        4096
#define MOST_IMAGES 1024       /* instrumented ones; what was added to others is locked */
#define NONE        UINT64_MAX /* where an empty span begins */
#define WRAPPER     16         /* bytes in which a function that only makes it has a system call */
#define HALF        (1ull << 63) /* of all addresses */
#define ALL_FLAGS   (MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)

/* What the kernel answers. */
#define INVALID (-22) /* EINVAL */

extern char __ehdr_start[] __attribute__((visibility("hidden")));
extern char umbra_stash[STASH_RANGE_SIZE] __attribute__((visibility("hidden")));

/* A look at all of the process's memory. */
struct walk {
    void (*visit)(struct walk *walk, uint64_t start, uint64_t size, bool is_own);
    uint64_t counted; /* bytes that are the program's */
    int how;          /* of mlock2 */
    uint32_t image_count;
    struct memory_span images[MOST_IMAGES]; /* what was added to them */
    struct maps_reader reader;
    char page[PAGE];
};

#define WALK_SIZE ((sizeof(struct walk) + PAGE - 1) / PAGE * PAGE)

static struct memory_span agent_image(void)
{
    return (struct memory_span){(uintptr_t)__ehdr_start, (uintptr_t)umbra_stash + STASH_RANGE_SIZE};
}

/* What was added to the image that this may be the header of; none if it is no header. */
static struct memory_span added_to_image(const struct image_header *header, uint64_t address)
{
    uint64_t base = address - header->header_rva;

    if (header->magic != IMAGE_MAGIC || header->version != IMAGE_VERSION || base % PAGE ||
        !header->added_rva || header->added_rva % PAGE || header->image_size % PAGE ||
        header->added_rva >= header->header_rva || header->header_rva >= header->image_size)
        return (struct memory_span){NONE, NONE};
    return (struct memory_span){base + header->added_rva, base + header->image_size};
}

/* An image's header is the last thing in the file's part of its last writable segment. */
static bool find_image(const struct mapping *mapping, void *with)
{
    struct walk *walk = with;
    uint64_t last = mapping->end - PAGE;

    if (memcmp(mapping->protection, "rw-p", 4) || mapping->path[0] != '/' ||
        !pages_copy(last, walk->page, PAGE))
        return true;
    for (uint32_t at = PAGE; at && walk->image_count < MOST_IMAGES;) {
        struct memory_span added;

        at -= sizeof(struct image_header);
        added = added_to_image((const struct image_header *)(walk->page + at), last + at);
        if (added.start != NONE)
            walk->images[walk->image_count++] = added;
    }
    return true;
}

static void keep_lowest(struct memory_span *lowest, struct memory_span span, uint64_t address)
{
    if (span.end > address && span.start < lowest->start)
        *lowest = span;
}

/* The first memory above an address that is not the program's. */
static struct memory_span own_above(const struct walk *walk, uint64_t address)
{
    struct memory_span lowest = own_memory_above(address);

    keep_lowest(&lowest, agent_image(), address);
    for (uint32_t i = 0; i < walk->image_count; i++)
        keep_lowest(&lowest, walk->images[i], address);
    return lowest;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The kernel may show the agent's memory and the program's as one mapping. */
static bool visit_parts(const struct mapping *mapping, void *with)
{
    struct walk *walk = with;

    if (mapping->start >= HALF) /* the kernel's own: [vsyscall] */
        return true;
    for (uint64_t at = mapping->start, end; at < mapping->end; at = end) {
        struct memory_span own = own_above(walk, at);
        bool is_own = own.start <= at;

        end = lesser(is_own ? own.end : own.start, mapping->end);
        walk->visit(walk, at, end - at, is_own);
    }
    return true;
}

static bool walk_memory(struct walk *walk, void (*visit)(struct walk *, uint64_t, uint64_t, bool))
{
    walk->visit = visit;
    return maps_each_with(&walk->reader, visit_parts, walk);
}

/* The agent's memory must not use up the program's limit. */
static void count(struct walk *walk, uint64_t start, uint64_t size, bool is_own)
{
    if (is_own)
        pages_unlock((void *)(uintptr_t)start, size);
    else
        walk->counted += size;
}

/* Ignores what cannot be locked or made resident, as the kernel does. */
static void lock(struct walk *walk, uint64_t start, uint64_t size, bool is_own)
{
    if (!is_own)
        SYSCALL3(mlock2, start, size, walk->how);
}

/* With CAP_IPC_LOCK the limit does not count. mlock checks the limit first, and then the range,
   which is invalid here: there are no such addresses, or, where the kernel has more bits than the
   program, what has none is said. */
static bool is_privileged(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

    if (sizeof(void *) == sizeof(HALF))
        return SYSCALL2(mlock, HALF, HALF) == INVALID;
    return !syscall_failed(SYSCALL2(capget, &head, sets)) && sets[0].effective & 1u << CAP_IPC_LOCK;
}

static bool is_within_limit(const struct walk *walk)
{
    struct rlimit limit;

    return !syscall_failed(SYSCALL_LIMIT(RLIMIT_MEMLOCK, &limit)) &&
           walk->counted / PAGE <= limit.rlim_cur / PAGE;
}

static bool is_future_locked(void)
{
    long page = SYSCALL_MAP(0, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool is_locked = syscall_failed(page) || pages_are_locked((const void *)page);

    if (!syscall_failed(page))
        SYSCALL2(munmap, page, PAGE);
    return is_locked;
}

/*
 * Future mappings come first, so that none is missed between the two steps. If they are locked and
 * are not to be any more, only munlockall ends that: it unlocks all memory, which may be swapped
 * out until it is locked again here.
 */
static long lock_all(struct walk *walk, int flags)
{
    long result = 0;

    if (flags & MCL_FUTURE)
        result = SYSCALL1(mlockall, flags & ~MCL_CURRENT);
    else if (is_future_locked())
        result = SYSCALL0(munlockall);
    walk->how = flags & MCL_ONFAULT ? MLOCK_ONFAULT : 0;
    if (syscall_failed(result))
        return result;
    walk_memory(walk, lock);
    walk_memory(walk, count); /* unlocks what the agent mapped meanwhile */
    return result;
}

/* The kernel answers where it would refuse the call without the agent, too, or /proc is missing. */
long umbra_lock_memory(int flags)
{
    struct walk *walk = NULL;
    long result;

    if (flags & MCL_FUTURE)
        pages_keep_unlocked();
    if (flags & MCL_CURRENT && !(flags & ~ALL_FLAGS))
        walk = pages_take(WALK_SIZE);
    if (walk && maps_each_with(&walk->reader, find_image, walk) && walk_memory(walk, count) &&
        (is_privileged() || is_within_limit(walk)))
        result = lock_all(walk, flags);
    else
        result = SYSCALL1(mlockall, flags);
    if (walk)
        pages_give_back(walk, WALK_SIZE);
    return result;
}

void locked_memory_begin(void)
{
    struct memory_span image = agent_image();

    if (!pages_are_locked(umbra_stash))
        return;
    pages_keep_unlocked();
    pages_unlock((void *)(uintptr_t)image.start, image.end - image.start);
}

#pragma weak __errno_location
#pragma weak dlsym
extern int *__errno_location(void);

/* mov eax, number */
static bool makes_system_call(const char *code)
{
    static const char system_call[] = {'\xb8', (char)SYS_mlockall, 0, 0, 0};

    for (uint32_t at = 0; at < WRAPPER; at++)
        if (!memcmp(code + at, system_call, sizeof(system_call)))
            return true;
    return false;
}

/* The program may have another mlockall than the C library's: ThreadSanitizer's locks nothing. */
static int (*other_mlockall(void))(int)
{
    const char *next = dlsym ? dlsym(RTLD_NEXT, "mlockall") : NULL;

    return next && !makes_system_call(next) ? (int (*)(int))next : NULL;
}

__attribute__((visibility("default"))) int mlockall(int flags)
{
    int (*other)(int) = other_mlockall();
    long result = other ? other(flags) : umbra_lock_memory(flags);

    if (other || !syscall_failed(result))
        return (int)result;
    if (__errno_location)
        *__errno_location() = (int)-result;
    return -1;
}
