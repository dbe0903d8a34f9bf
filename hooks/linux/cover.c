#include "hooks/cover.h"

#include "hooks/guard.h"
#include "hooks/memory.h"
#include "hooks/session.h"
#include "hooks/system.h"
#include "hooks/thread.h"
#include "hooks/thread_slot.h"
#include "thunkstash/linux/linux_pages.h"
#include "thunkstash/linux/syscalls.h"
#include "trace/frame_format.h"

#define MOST_IMAGES 4096  /* that are remembered */
#define INVALID     (-22) /* EINVAL */
#define NO_SUCH_WAY (-1)

/* Images whose pages blocks of the trace lie over. One may be gone, and another in its place: what
   is there is looked at first. */
static struct bound {
    uint64_t address; /* of the first page */
    uint32_t function, pages, block_hash;
    bool has_lanes;
} * bound;
static uint32_t bound_count;

extern void umbra_count_enter(void) __attribute__((visibility("hidden")));
void umbra_take_lane(void) __attribute__((visibility("hidden")));

/* Lanes that have the trace's pages: a bit each. That of threads without one always has. */
static uint64_t lanes = 1;
/* Whose they are: where the thread's word for its lane is. Null: nobody's. */
static uint64_t *holders[IMAGE_LANES];
static bool has_lanes; /* an image */

/* Asks the kernel, by a call that does nothing else, as programs forbid themselves reading by
 * process_vm_readv. */
static bool is_readable(const void *address)
{
    return SYSCALL4(rt_sigprocmask, NO_SUCH_WAY, address, 0, sizeof(uint64_t)) == INVALID;
}

/* An image that is unloaded by another thread meanwhile is not there at the next look only. */
static bool is_bound(const struct bound *image)
{
    const struct trace_block *block = (const struct trace_block *)image->address;

    return is_readable(block) && block->kind == TRACE_BLOCK_COVER &&
           block->function == image->function && block->page == 0;
}

/* False: the pages stay as they are. */
static bool share(uint64_t pages, struct trace_block *blocks, uint64_t size)
{
    char *shared = pages_map_again(blocks, size);

    if (!shared)
        return false;
    pages_keep_for_children(shared, size);
    return pages_replace((void *)pages, shared, size);
}

/* Maps blocks of the trace over an image's pages in a lane, with what they have if `keeps`. */
static bool bind(const struct bound *image, unsigned lane, bool keeps)
{
    uint64_t pages = image->address + (uint64_t)lane * IMAGE_LANE_SIZE;
    struct trace_block *blocks = session_cover_blocks(image->pages);

    for (uint32_t i = 0; blocks && i < image->pages; i++) {
        uint64_t at = (uint64_t)i * TRACE_BLOCK_SIZE;
        struct trace_block *block = (struct trace_block *)((char *)blocks + at);

        block->function = image->function;
        block->page = i;
        block->block_hash = image->block_hash;
        if (keeps)
            memcpy(block + 1, (char *)pages + at + TRACE_UNIT, TRACE_COVER_BYTES);
        block_commit(block, TRACE_BLOCK_COVER);
    }
    return blocks && share(pages, blocks, (uint64_t)image->pages * TRACE_BLOCK_SIZE);
}

static void remember(const struct bound *image)
{
    if (!bound)
        bound = pages_take(MOST_IMAGES * sizeof(*bound));
    if (bound && bound_count < MOST_IMAGES)
        bound[bound_count++] = *image;
}

void cover_bind(const struct image_header *image)
{
    const struct bound added = {
        .address = (uint64_t)image - image->header_rva + image->hook_rva - IMAGE_HOOK_IN_PAGE +
                   IMAGE_HOOK_PAGE,
        .function = image->first_function,
        .pages = image_cover_pages(image->cover_size),
        .block_hash = image->block_hash,
        .has_lanes = image->flags & IMAGE_HAS_LANES,
    };

    if (!added.pages || !bind(&added, 0, true))
        return;
    for (unsigned lane = 1; added.has_lanes && lane < IMAGE_LANES; lane++)
        if (lanes >> lane & 1)
            bind(&added, lane, false);
    has_lanes = has_lanes || added.has_lanes;
    remember(&added);
}

static void bind_lane(unsigned lane)
{
    for (uint32_t i = 0; i < bound_count; i++)
        if (bound[i].has_lanes && is_bound(&bound[i]))
            bind(&bound[i], lane, false);
    lanes |= 1ull << lane;
}

bool cover_take_lane(void)
{
    struct frame_counts *counts = has_lanes ? frame_counts() : NULL;

    if (!counts || counts->lane || session.state != SESSION_RUNNING)
        return false;
    for (unsigned lane = 1; lane < IMAGE_LANES; lane++) {
        if (holders[lane])
            continue;
        if (!(lanes >> lane & 1))
            bind_lane(lane);
        counts->lane = (uint64_t)lane * IMAGE_LANE_SIZE;
        holders[lane] = &counts->lane;
        return true;
    }
    counts->lane = (1 + system_thread_id() % (IMAGE_LANES - 1)) * (uint64_t)IMAGE_LANE_SIZE;
    return true;
}

/* Also so that the thread that gets this one's memory next does not go on with its lane. */
static void leave_lane(void)
{
    struct frame_counts *counts = frame_counts();
    struct guard guard = guard_take();

    for (unsigned lane = 1; lane < IMAGE_LANES; lane++)
        if (holders[lane] == &counts->lane)
            holders[lane] = NULL;
    counts->lane = 0;
    guard_release(guard);
}

void cover_prepare(void)
{
    lane_ends_prepare(leave_lane);
}

/* From umbra_count_enter. */
void umbra_take_lane(void)
{
    struct guard guard;
    bool is_taken;

    thread_begin_in_child(); /* the parent's trace is not here */
    guard = guard_take();
    is_taken = cover_take_lane();
    guard_release(guard);
    if (is_taken)
        lane_end_watch();
}

void *cover_watch(const struct image_header *image)
{
    uint64_t *word = (uint64_t *)((uint64_t)image - image->header_rva + image->hook_rva);

    if (session.state != SESSION_RUNNING || !(image->flags & IMAGE_HAS_LANES))
        return NULL;
    __atomic_store_n(word, (uint64_t)umbra_count_enter, __ATOMIC_RELEASE);
    return (void *)umbra_count_enter;
}

/* Threads of the parent's are not there: what is left of their memory must not say that it has
 * lanes. */
static void free_others(unsigned own)
{
    for (unsigned lane = 1; lane < IMAGE_LANES; lane++) {
        if (lane == own)
            continue;
        if (holders[lane] && is_readable(holders[lane]))
            *holders[lane] = 0;
        holders[lane] = NULL;
    }
}

void cover_begin_in_child(void)
{
    unsigned own = has_lanes ? (unsigned)(frame_counts()->lane / IMAGE_LANE_SIZE) : 0;

    free_others(own);
    lanes = 1;
    for (uint32_t i = 0; i < bound_count; i++)
        if (is_bound(&bound[i]))
            bind(&bound[i], 0, false);
    if (own)
        bind_lane(own);
}
