#include "trace/link_sums.h"

#include <stdlib.h>
#include <string.h>

#include "support/sorted.h"

#define TO_NODE      1u /* in a callee: it is a trace_node's address */
#define RECORD_ALIGN 16u

void link_sums_begin(struct link_sums *sums, uint64_t base, uint64_t end)
{
    *sums = (struct link_sums){.base = base, .end = end};
}

void link_sums_free(struct link_sums *sums)
{
    free(sums->by_link.items);
    free(sums->by_node.items);
    free(sums->instructions.items);
    free(sums->records);
    free(sums->places);
    *sums = (struct link_sums){0};
}

/* Room for one more item; returns the array, or null with the old one as it was. */
static void *make_room(void *items, size_t count, size_t *room, size_t size)
{
    size_t wanted = *room ? 2 * *room : 64;
    void *grown;

    if (count < *room)
        return items;
    grown = realloc(items, wanted * size);
    if (grown)
        *room = wanted;
    return grown;
}

static bool count(struct link_sum_list *list, uint64_t key, uint64_t number)
{
    struct link_sum *items;

    if (!number)
        return true;
    items = make_room(list->items, list->count, &list->room, sizeof(*items));
    if (!items)
        return false;
    list->items = items;
    items[list->count++] = (struct link_sum){key, number};
    return true;
}

static bool keep_place(struct link_sums *sums, uint64_t place, uint64_t target, uint32_t calls)
{
    struct link_at_place *places;

    if (!sums->keeps_places || !calls || place > UINT32_MAX)
        return true;
    places = make_room(sums->places, sums->place_count, &sums->place_room, sizeof(*places));
    if (!places)
        return false;
    sums->places = places;
    places[sums->place_count++] = (struct link_at_place){(uint32_t)place, calls, target, false};
    return true;
}

/* What leads nowhere in the trace counts nothing: it may be code, or a word of a site that calls
   by a pointer. */
static bool count_link(struct link_sums *sums, const struct trace_link *link, uint64_t place)
{
    uint64_t target = link->callee - sums->base;
    uint32_t calls = (uint32_t)link->word + (link->armed & ~TRACE_LINK_JUMP);

    if (target >= sums->end)
        return true;
    if (!(target & TO_NODE))
        return target % RECORD_ALIGN ||
               (count(&sums->by_link, target, calls) && keep_place(sums, place, target, calls));
    target -= TO_NODE;
    return target % TRACE_UNIT || (count(&sums->by_node, target / TRACE_UNIT, calls) &&
                                   keep_place(sums, place, target + TO_NODE, calls));
}

bool link_sums_add(struct link_sums *sums, const struct trace_links *links, uint64_t at)
{
    struct link_record *records =
        make_room(sums->records, sums->record_count, &sums->record_room, sizeof(*records));

    if (!records)
        return false;
    sums->records = records;
    records[sums->record_count++] = (struct link_record){at, links->node};
    for (uint32_t i = 0; i < links->count; i++)
        if (!count_link(sums, &links->links[i], (at + sizeof(*links)) / sizeof(*links->links) + i))
            return false;
    return count(&sums->instructions, links->node, links->instructions) &&
           count(&sums->by_node, links->node,
                 links->flags & TRACE_LINKS_ADOPTED ? 0 : links->entered);
}

static int compare_keys(const void *left, const void *right)
{
    const struct link_sum *a = left, *b = right;

    return (a->key > b->key) - (a->key < b->key);
}

static void sort_and_join(struct link_sum_list *list)
{
    size_t kept = 0;

    if (!list->count)
        return;
    qsort(list->items, list->count, sizeof(*list->items), compare_keys);
    for (size_t i = 1; i < list->count; i++) {
        if (list->items[i].key == list->items[kept].key)
            list->items[kept].sum += list->items[i].sum;
        else
            list->items[++kept] = list->items[i];
    }
    list->count = kept + 1;
}

static int compare_places(const void *left, const void *right)
{
    const struct link_at_place *a = left, *b = right;

    return (a->place > b->place) - (a->place < b->place);
}

static uint32_t node_of_target(const struct link_sums *sums, uint64_t target)
{
    size_t found = partition_point(i, sums->record_count, sums->records[i].at < target);

    if (target & TO_NODE)
        return (uint32_t)(target / TRACE_UNIT);
    return found < sums->record_count && sums->records[found].at == target
               ? sums->records[found].node
               : 0;
}

static void settle_places(struct link_sums *sums)
{
    for (size_t i = 0; i < sums->place_count; i++)
        sums->places[i].target = node_of_target(sums, sums->places[i].target);
    if (sums->place_count)
        qsort(sums->places, sums->place_count, sizeof(*sums->places), compare_places);
}

/* Both are in the order of the file. */
bool link_sums_settle(struct link_sums *sums)
{
    size_t record = 0;

    sort_and_join(&sums->by_link);
    for (size_t i = 0; i < sums->by_link.count; i++) {
        const struct link_sum *sum = &sums->by_link.items[i];
        while (record < sums->record_count && sums->records[record].at < sum->key)
            record++;
        if (record < sums->record_count && sums->records[record].at == sum->key &&
            !count(&sums->by_node, sums->records[record].node, sum->sum))
            return false;
    }
    sums->by_link.count = 0;
    sort_and_join(&sums->by_node);
    sort_and_join(&sums->instructions);
    settle_places(sums);
    return true;
}

struct link_at_place *link_sums_at(const struct link_sums *sums, uint32_t place)
{
    size_t found = partition_point(i, sums->place_count, sums->places[i].place < place);

    return found < sums->place_count && sums->places[found].place == place ? &sums->places[found]
                                                                           : NULL;
}

uint64_t link_sums_of(const struct link_sums *sums, uint32_t node)
{
    const struct link_sum *items = sums->by_node.items;
    size_t found = partition_point(i, sums->by_node.count, items[i].key < node);

    return found < sums->by_node.count && items[found].key == node ? items[found].sum : 0;
}
