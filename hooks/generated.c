#include "hooks/generated.h"

#include "hooks/guard.h"
#include "hooks/modules.h"

#define MOST_FRAMES   64 /* of builtins, one called by the other */
#define MOST_IMAGES   16
#define REGION_BITS   18 /* 256 KiB */
#define REGIONS       256
#define REGION_IN_USE (1ull << 63)

static struct image {
    uint64_t base, size;
    uint64_t generated, generated_size;
} images[MOST_IMAGES];
static uint32_t image_count;
static bool is_resolved;

/* Regions without a module, by the low bits of their numbers. An entry that is out of date has a
   call pass, no more. */
static uint64_t regions[REGIONS];

void generated_note(const struct image_header *image)
{
    uint64_t base = (uint64_t)image - image->header_rva;

    if (!image->generated_size || image_count == MOST_IMAGES)
        return;
    images[image_count] =
        (struct image){base, image->image_size, base + image->generated_rva, image->generated_size};
    if (image->generated_size == GENERATED_ELSEWHERE)
        is_resolved = false; /* HotSpot cannot be told */
    __atomic_store_n(&image_count, image_count + 1, __ATOMIC_RELEASE);
}

/* Code of no file, as far as can be seen: /proc may be out of reach in a sandbox. */
static bool is_of_no_module(uint64_t site)
{
    uint64_t *region = &regions[(site >> REGION_BITS) % REGIONS];
    uint64_t number = site >> REGION_BITS | REGION_IN_USE;
    struct guard guard;
    bool is_held;

    if (modules_hold(site))
        return false;
    if (__atomic_load_n(region, __ATOMIC_RELAXED) == number)
        return true;
    guard = guard_take();
    modules_scan();
    is_held = modules_hold(site);
    guard_release(guard);
    if (!is_held)
        __atomic_store_n(region, number, __ATOMIC_RELAXED);
    return !is_held;
}

static bool is_generated(uint64_t site)
{
    uint32_t count = __atomic_load_n(&image_count, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < count; i++)
        if (site - images[i].base < images[i].size)
            return site - images[i].generated < images[i].generated_size;
    return count && is_of_no_module(site);
}

void generated_is_resolved(void)
{
    is_resolved = true;
}

static bool is_on_stack(const struct thread *thread, uint64_t frame, uint64_t above)
{
    uint64_t last = thread->own_low + thread->own_size - 2 * sizeof frame;

    return frame > above && frame - above > sizeof frame && frame <= last && frame % 8 == 0;
}

/* Or, where no function is on the way, where this code was entered. */
static uint64_t nearest_function(const struct thread *thread, uint64_t above, uint64_t frame,
                                 uint64_t site)
{
    for (uint32_t i = 0; i < MOST_FRAMES && is_on_stack(thread, frame, above); i++) {
        const uint64_t *words = (const uint64_t *)frame;

        if (words[-1] & 1 || !is_generated(words[1]))
            break;
        site = words[1];
        above = frame;
        frame = words[0];
    }
    return site;
}

bool generated_site(const struct thread *thread, const uint64_t *slot, uint64_t frame,
                    uint64_t *site)
{
    if (!is_generated(*site))
        return true;
    if (is_resolved && (uint64_t)slot - thread->own_low < thread->own_size)
        *site = nearest_function(thread, (uint64_t)slot, frame, *site);
    return is_resolved;
}
