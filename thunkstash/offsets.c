/* The fields of a record, for assembly. */
#include "support/offsets.h"

#include "thunkstash/stash.h"

void offsets(void)
{
    OFFSET(RECORD_RET, struct record, ret);
    OFFSET(RECORD_BODY, struct record, body);
    OFFSET(RECORD_T0, struct record, t0);
    OFFSET(RECORD_SLOT, struct record, slot);
    OFFSET(RECORD_NODE, struct record, node);
    OFFSET(RECORD_WEIGHT, struct record, weight);
    OFFSET(RECORD_MARK, struct record, mark);
    OFFSET(RECORD_BELOW, struct record, below);
}
