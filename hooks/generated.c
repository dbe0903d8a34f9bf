#include "hooks/generated.h"

#include "hooks/guard.h"
#include "hooks/memory.h"
#include "hooks/modules.h"
#include "thunkstash/pages.h"
#include "thunkstash/stash.h"

#define MOST_FRAMES   64 /* of builtins, one called by the other */
#define MOST_IMAGES   16
#define MOST_AHEAD    16 /* modules that Mono compiled ahead of time */
#define MOST_CHAINED  64 /* thunks whose true return address is a thunk */
#define REGION_BITS   18 /* 256 KiB */
#define REGIONS       256
#define REGION_IN_USE (1ull << 63)
#define WRAPPER       (16u << 10)  /* more bytes than a native method's wrapper has on the stack */
#define CODE_CACHE    (1ull << 31) /* bytes: all of HotSpot's code reaches all of it by a jump */

static struct image {
    uint64_t base, size;
    uint64_t generated, generated_size;
} images[MOST_IMAGES];
static uint32_t image_count;
static bool is_resolved, has_v8;
static uint64_t java_base; /* of libjvm.so; 0: there is none */

static struct ahead {
    uint64_t base, size;
} aheads[MOST_AHEAD];
static uint32_t ahead_count;

/* Regions without a module, by the low bits of their numbers. An entry that is out of date lets a
   call pass; it does no other harm. */
static uint64_t regions[REGIONS];

void generated_note(const struct image_header *image)
{
    uint64_t base = (uintptr_t)image - image->header_rva;

    if (!image->generated_size || image_count == MOST_IMAGES)
        return;
    images[image_count] =
        (struct image){base, image->image_size, base + image->generated_rva, image->generated_size};
    if (image->generated_size == GENERATED_ELSEWHERE)
        is_resolved = false; /* HotSpot cannot be told */
    else
        has_v8 = true;
    __atomic_store_n(&image_count, image_count + 1, __ATOMIC_RELEASE);
}

static bool ends_with(const char *path, const char *end)
{
    size_t length = text_length(path), size = text_length(end);

    return length > size && text_equal(path + length - size, end);
}

void generated_note_module(const char *path, uint64_t base, uint64_t size)
{
    if (ends_with(path, "/libjvm.so")) {
        __atomic_store_n(&java_base, base, __ATOMIC_RELEASE);
    } else if ((ends_with(path, ".dll.so") || ends_with(path, ".exe.so")) &&
               ahead_count < MOST_AHEAD) {
        aheads[ahead_count] = (struct ahead){base, size};
        __atomic_store_n(&ahead_count, ahead_count + 1, __ATOMIC_RELEASE);
    }
}

static bool is_ahead(uint64_t site)
{
    uint32_t count = __atomic_load_n(&ahead_count, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < count; i++)
        if (site - aheads[i].base < aheads[i].size)
            return true;
    return false;
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
    return (count || __atomic_load_n(&java_base, __ATOMIC_ACQUIRE)) &&
           (is_of_no_module(site) || is_ahead(site));
}

void generated_is_resolved(void)
{
    is_resolved = true;
}

/* Whether a frame is on the thread's stack, above a place. Where the stack is is not known of each
   thread: own_size is 0 then. */
static bool is_on_stack(const struct thread *thread, uint64_t frame, uint64_t above)
{
    return frame > above && frame - above > sizeof(uintptr_t) && frame % sizeof(uintptr_t) == 0 &&
           thread->own_size >= 2 * sizeof(uintptr_t) &&
           frame - thread->own_low <= thread->own_size - 2 * sizeof(uintptr_t);
}

/* The call site in the nearest JavaScript function; where none is on the way, the place where the
   generated code was entered. */
static uint64_t nearest_function(const struct thread *thread, uint64_t above, uint64_t frame,
                                 uint64_t site)
{
    for (uint32_t i = 0; i < MOST_FRAMES && is_on_stack(thread, frame, above); i++) {
        const uintptr_t *words = (const uintptr_t *)(uintptr_t)frame;

        if (words[-1] & 1 || !is_generated(words[1]))
            break;
        site = words[1];
        above = frame;
        frame = words[0];
    }
    return site;
}

/* HotSpot called it as a native method, not as a part of itself. */
static bool is_native_method(const struct image_header *image)
{
    uint64_t base = __atomic_load_n(&java_base, __ATOMIC_ACQUIRE);

    return base && !has_v8 && (uintptr_t)image - image->header_rva != base;
}

/* Where the native method was called, if that is code of HotSpot's: C2 has other uses for rbp, but
   not where it calls a native method. */
static uint64_t java_caller(const struct thread *thread, uint64_t above, uint64_t frame,
                            uint64_t site)
{
    uint64_t caller;

    if (is_on_stack(thread, frame, above))
        caller = ((const uintptr_t *)(uintptr_t)frame)[1];
    else if (frame - above > WRAPPER || !pages_read(frame + sizeof(uintptr_t), &caller))
        return site;
    return caller - site + CODE_CACHE < 2 * CODE_CACHE && is_generated(caller) ? caller : site;
}

bool generated_site(const struct thread *thread, const uintptr_t *slot, uint64_t frame,
                    const struct image_header *image, uint64_t *site)
{
    if (!is_generated(*site))
        return true;
    if (!is_resolved && !is_native_method(image))
        return false;
    if (!is_resolved)
        *site = java_caller(thread, (uintptr_t)slot, frame, *site);
    else if ((uintptr_t)slot - thread->own_low < thread->own_size)
        *site = nearest_function(thread, (uintptr_t)slot, frame, *site);
    return true;
}

uint64_t generated_true_location(uint64_t location)
{
    struct record *record;

    for (uint32_t i = 0; i < MOST_CHAINED; i++) {
        record = record_of_return(*(uintptr_t *)(uintptr_t)location);
        if (!record)
            break;
        location = (uintptr_t)&record->ret;
    }
    return location;
}
