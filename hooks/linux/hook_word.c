#include "hooks/hook_word.h"

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

/* In step with service/recorder/trace_file.c: either the service sees `entry`, or `paused` is seen
   here as the service has set it. */
void hook_words_begin(void *entry)
{
    struct trace_header *header = session.header;
    uint32_t paused;

    umbra_session_entry = entry;
    __atomic_store_n(&header->entry, (uint64_t)entry, __ATOMIC_SEQ_CST);
    do {
        paused = __atomic_load_n(&header->paused, __ATOMIC_SEQ_CST);
        __atomic_store_n(&header->hook, paused ? 0 : (uint64_t)entry, __ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&header->paused, __ATOMIC_SEQ_CST) != paused);
}

static bool share(uint64_t page)
{
    void *trace = pages_map_again(session.header, IMAGE_HOOK_PAGE);

    return trace && pages_replace((void *)page, trace, IMAGE_HOOK_PAGE);
}

/* Puts a page of this process in place of one that is the parent's. */
static void make_private(uint64_t page, void *hook)
{
    char *own = pages_take(IMAGE_HOOK_PAGE);

    if (!own)
        return;
    *(uint64_t *)(own + IMAGE_HOOK_IN_PAGE) = (uint64_t)hook;
    pages_replace((void *)page, own, IMAGE_HOOK_PAGE);
}

/* False: there is no room to remember it. */
static bool remember(uint64_t page)
{
    if (!pages)
        pages = pages_take(MOST_PAGES * sizeof *pages);
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
    uint64_t *word = (uint64_t *)((uint64_t)image - image->header_rva + image->hook_rva);
    uint64_t page = (uint64_t)word - IMAGE_HOOK_IN_PAGE;

    if (hook && remember(page) && share(page)) {
        trace_created = session.header->created_ns;
        return;
    }
    __atomic_store_n(word, (uint64_t)(hook ? umbra_record_unless_paused : 0), __ATOMIC_RELEASE);
}

static bool is_of_trace(uint64_t page, uint64_t created)
{
    const struct trace_header *header = (const struct trace_header *)page;
    uint64_t magic, found;

    return pages_read((uint64_t)header->magic, &magic) &&
           memcmp(&magic, TRACE_MAGIC, sizeof magic) == 0 &&
           pages_read((uint64_t)&header->created_ns, &found) && found == created;
}

/* Where there is no room for any of it, the word remains the parent's. */
void hook_words_begin_in_child(void)
{
    bool is_running = session.state == SESSION_RUNNING;
    uint64_t created = trace_created;
    uint32_t count = page_count;

    page_count = 0;
    trace_created = is_running ? session.header->created_ns : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_of_trace(pages[i], created))
            continue;
        if (is_running && share(pages[i]))
            pages[page_count++] = pages[i];
        else
            make_private(pages[i], is_running ? umbra_record_unless_paused : 0);
    }
}
