/*
 * What lies where in structures, for assembly: a part's offsets.c lists what its assembly needs, in a
 * function that is compiled and never linked.
 *
 *      offsets.c   OFFSET(NODE_CALLS, struct trace_node, calls);
 *      its object  ->NODE_CALLS $16
 *      offsets.h   #define NODE_CALLS 16                               by offsets.py, in the build folder
 *
 * The compiler that makes the part's code writes the numbers, as text, so nothing is run.
 */
#ifndef UMBRA_SUPPORT_OFFSETS_H
#define UMBRA_SUPPORT_OFFSETS_H

#include <stddef.h>

#define NAMED_NUMBER(name, value) \
    __asm__ volatile(".ascii \"->" name " %0\\n\"" : : "i"((long long)(value)))

#define NUMBER(name, value)       NAMED_NUMBER(#name, value)
#define OFFSET(name, type, field) NAMED_NUMBER(#name, offsetof(type, field))
/* What C calls the same. */
#define CONSTANT(name) NAMED_NUMBER(#name, name)

#endif
