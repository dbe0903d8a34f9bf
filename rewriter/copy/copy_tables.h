/* Jump tables of what is copied. */
#ifndef UMBRA_REWRITER_COPY_TABLES_H
#define UMBRA_REWRITER_COPY_TABLES_H

#include "rewriter/copy/copy_plan_work.h"

/* Whether those of a member that are to be written lie in data, and nowhere else. */
bool copy_tables_are_writable(const struct code *code, const struct flow *flow);
/*
 * Takes pointers to functions out of a flow's tables, by which functions are called that take the
 * caller's place: such words stay as they are, as programs compare them. False: a table has both
 * them and places within functions.
 */
bool copy_tables_take_out_pointers(struct flow *flow, const struct flow_source *source);
void copy_tables_keep(struct copy_plan *plan, const struct flow *flow, uint32_t member);

/* Once all members were looked at: one table may serve several jumps, but the bytes of two tables
   cannot be written for both. */
void copy_tables_check(struct copy_plan_work *work);

/* Once all doubts are known: forgets the tables of what is not copied, and reads all entries of
   those that are written, before one is. */
void copy_tables_settle(struct copy_plan_work *work);

#endif
