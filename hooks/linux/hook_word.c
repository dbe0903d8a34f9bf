#include "hooks/hook_word.h"

#include "hooks/linux/copy_words.h"
#include "hooks/memory.h"
#include "hooks/session.h"
#include "thunkstash/linux/linux_pages.h"

#define MOST_PAGES 4096

extern void umbra_record_unless_paused(void) __attribute__((visibility("hidden")));

/* entry.S: where that one goes on. */
void *umbra_session_entry __attribute__((visibility("hidden")));

/*
 * Pages that the trace was mapped over. Nothing tells the agent of dlclose, so an image may be gone
 * and another one in its place: each page is checked before it is changed again.
 */
static uint64_t *pages;
static uint32_t page_count;
static uint64_t trace_created; /* of the trace that lies over them; each trace has another time */

static const void *place; /* of the session's page */

const void *hook_word_place(const void *page)
{
    void *again = place ? pages_map_again(page, IMAGE_HOOK_PAGE) : NULL;

    if (!again || !pages_replace((void *)place, again, IMAGE_HOOK_PAGE))
        return place = page;
    pages_give_back((void *)page, IMAGE_HOOK_PAGE);
    return place;
}

/* In step with service/traces/trace_file.c: either the service sees `entry`, or `paused` is seen
   here as the service has set it. */
void hook_words_begin(void *entry)
{
    struct trace_header *header = session.header;
    uint32_t paused;

    umbra_session_entry = entry;
    copy_words_set(header, session.is_adaptive, true);
    header->waits = session.is_sampled;
    __atomic_store_n(&header->entry, (uintptr_t)entry, __ATOMIC_SEQ_CST);
    do {
        paused = __atomic_load_n(&header->paused, __ATOMIC_SEQ_CST);
        __atomic_store_n(&header->frames, paused ? 0 : header->words, __ATOMIC_SEQ_CST);
        __atomic_store_n(&header->hook, paused ? 0 : (uintptr_t)entry, __ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&header->paused, __ATOMIC_SEQ_CST) != paused);
}

static bool share(uint64_t page)
{
    void *trace = pages_map_again(session.page, IMAGE_HOOK_PAGE);

    return trace && pages_replace((void *)(uintptr_t)page, trace, IMAGE_HOOK_PAGE);
}

/* What a page has that the trace does not lie over. */
static void fill_private(char *page, bool is_recorded)
{
    struct trace_header *header = (struct trace_header *)page;

    copy_words_set(header, false, is_recorded);
    __atomic_store_n(&header->hook, is_recorded ? (uintptr_t)umbra_record_unless_paused : 0,
                     __ATOMIC_RELEASE);
}

/* Puts a page of this process in place of one that is the parent's. */
static void make_private(uint64_t page, bool is_recorded)
{
    char *own = pages_take(IMAGE_HOOK_PAGE);

    if (!own)
        return;
    fill_private(own, is_recorded);
    pages_replace((void *)(uintptr_t)page, own, IMAGE_HOOK_PAGE);
}

/* False: there is no room to remember it. */
static bool remember(uint64_t page)
{
    if (!pages)
        pages = pages_take(MOST_PAGES * sizeof(*pages));
    for (uint32_t i = 0; pages && i < page_count; i++)
        if (pages[i] == page)
            return true;
    if (!pages || page_count == MOST_PAGES)
        return false;
    pages[page_count++] = page;
    return true;
}

void hook_word_bind(struct image_header *image, void *hook)
{
    uint64_t *word =
        (uint64_t *)(uintptr_t)((uintptr_t)image - image->header_rva + image->hook_rva);
    uint64_t page = (uintptr_t)word - IMAGE_HOOK_IN_PAGE;

    if (hook && remember(page) && share(page)) {
        trace_created = session.header->created_ns;
        return;
    }
    fill_private((char *)(uintptr_t)page, hook != NULL);
}

static bool is_of_trace(uint64_t page, uint64_t created)
{
    const struct trace_header *header = (const struct trace_header *)(uintptr_t)page;
    uint64_t magic, found;

    return pages_copy((uintptr_t)header->magic, &magic, sizeof(magic)) &&
           memcmp(&magic, TRACE_MAGIC, sizeof(magic)) == 0 &&
           pages_copy((uintptr_t)&header->created_ns, &found, sizeof(found)) && found == created;
}

/* Where there is no room for any of it, the word remains the parent's. */
void hook_words_begin_in_child(void)
{
    bool is_running = session.state == SESSION_RUNNING;
    uint64_t created = trace_created;
    uint32_t count = page_count;

    if (!is_running && place)
        make_private((uintptr_t)place, false); /* nothing is to hold the parent's memory */
    page_count = 0;
    trace_created = is_running ? session.header->created_ns : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_of_trace(pages[i], created))
            continue;
        if (is_running && share(pages[i]))
            pages[page_count++] = pages[i];
        else
            make_private(pages[i], is_running);
    }
}
