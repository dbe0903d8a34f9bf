/* Jump tables: reading what they hold, as far as they can be told from what follows them. */
#ifndef UMBRA_REWRITER_FLOW_TABLES_H
#define UMBRA_REWRITER_FLOW_TABLES_H

#include "rewriter/flow/flow_body.h"
#include "rewriter/flow/flow_values.h"

/* A table as a jump goes by it; {0} is an empty one. */
struct table {
    uint64_t address, origin;
    uint8_t entry_size;
    uint32_t limit;   /* of the index; NO_LIMIT: not known */
    bool is_by_type;  /* of which the index's type alone tells */
    uint32_t count;   /* entries that it has */
    bool is_complete; /* as many as the limit says */
    bool is_read;
    bool has_grown;       /* since its targets were last entered */
    bool leads_out;       /* some of them, to other members of the family */
    bool is_torn;         /* where it ends is not clear */
    uint32_t before_next; /* entries before the address of other data */
    uint32_t *targets;    /* offsets in the function, ascending, each once */
    size_t target_count, target_room;
};

/* What is needed to tell whether an entry fits. */
struct table_reader {
    const struct flow_source *source;
    const struct flow_body *body;
    const struct function *function;
    uint64_t behind; /* where the next function begins */
    uint64_t *data;  /* addresses of data that the function takes: ascending */
    size_t data_count, data_room;
    /* Another member of the family that entries led into last, read as far as `work` allows. */
    struct flow_body other;
    uint64_t work;
};

void table_reader_init(struct table_reader *reader, const struct flow_source *source,
                       const struct flow_body *body, const struct function *function);
void table_reader_free(struct table_reader *reader);
/* Notes the addresses of data that the function takes. */
void table_reader_note(struct table_reader *reader, const struct flow_steps *steps);

/* Reads entries: all that is not in the first line. */
void table_read(struct table *table, struct table_reader *reader);
void table_free(struct table *table);

/* The word at a slot that the loader makes an address of code: its place, or pointer_count. */
size_t flow_pointer_at(const struct flow_source *source, uint64_t slot);

#endif
