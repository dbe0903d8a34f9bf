/*
 * How many calls of each context were counted by links (struct trace_links), and how many instructions in their
 * records: added up while these are gone over in the order of the file, and asked for by node afterwards.
 *
 * Holds 16 bytes for each record, one more time with instructions, and for each link that counts something and
 * leads into the trace; with places, twice as much.
 */
#ifndef UMBRA_LINK_SUMS_H
#define UMBRA_LINK_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace_format.h"

/* Calls, or instructions, of what key names. */
struct link_sum {
    uint64_t key, sum;
};

struct link_sum_list {
    struct link_sum *items; /* once they are settled: by ascending keys, one a key */
    size_t count, room;
};

/* What the link at a place of the trace counts, in units of its size (struct trace_site). */
struct link_at_place {
    uint32_t place, calls;
    uint64_t target; /* offset of a record, until they are settled; then the index of a node, or 0 */
    bool is_told;    /* the reader's */
};

struct link_sums {
    bool keeps_places; /* to be set at the begin */
    struct link_at_place *places; /* ascending */
    size_t place_count, place_room;
    uint64_t base, end;           /* of the trace, in the process; bytes of it that are there */
    struct link_sum_list by_link; /* until they are settled: by offset of a record */
    struct link_sum_list by_node; /* by index */
    struct link_sum_list instructions; /* by index of a node */
    struct link_record {
        uint64_t at;
        uint32_t node;
    } * records; /* by ascending offsets */
    size_t record_count, record_room;
};

/* Empty: base is the header's, end where the trace's bytes end. To be freed. */
void link_sums_begin(struct link_sums *sums, uint64_t base, uint64_t end);
void link_sums_free(struct link_sums *sums);

/* Adds a committed record, all of whose links are there. at: its offset, above those before it.
   False: out of memory. */
bool link_sums_add(struct link_sums *sums, const struct trace_links *links, uint64_t at);

/* When all have been added. False: out of memory. */
bool link_sums_settle(struct link_sums *sums);

/* The link at a place, once they are settled; null if it counts nothing. */
struct link_at_place *link_sums_at(const struct link_sums *sums, uint32_t place);

/* Calls of the node with that index, which links and `entered` counted. Modulo 2^64. */
uint64_t link_sums_of(const struct link_sums *sums, uint32_t node);

#endif
