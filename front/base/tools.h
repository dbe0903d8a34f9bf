/*
 * The programs behind this one, where they are installed and in a build directory:
 *
 *      PREFIX/bin/umbra                        BUILD/front/umbra
 *      PREFIX/bin/instrument                   BUILD/rewriter/instrument
 *      PREFIX/bin/call_trace_service           BUILD/service/call_trace_service
 *      PREFIX/bin/grinder                      BUILD/grinder/grinder
 *      PREFIX/lib/…/umbra/libhooks.so          BUILD/hooks/libhooks.so
 *      PREFIX/lib/…/umbra/libhooks32.so        BUILD/hooks/libhooks32.so
 *
 * The last is for programs of 32 bits, and need not be there: then these are left as they are. Nothing else in the
 * front says whether they are instrumented.
 */
#ifndef UMBRA_FRONT_TOOLS_H
#define UMBRA_FRONT_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the programs that are instrumented. */
enum processor {
    PROCESSOR_X86_64,
    PROCESSOR_I386,
    PROCESSORS,
};

struct tools {
    char *own; /* this program */
    char *instrument, *service, *grinder;
    char *agents[PROCESSORS]; /* null: its programs are left as they are */
};

/* Absolute paths of all of them; ends the process with a message if one is missing. */
const struct tools *tools_find(void);

/* From now on the grinder and call_trace_service are run under that name, "umbra report": it is
   their argument 0, and what they say begins with it. Lasts. */
void tools_speak_as(const char *name);

/* Runs it and returns its exit status, 128 + N after signal N. */
int tool_run(char *const *arguments);

/* Runs it with that descriptor as its standard output. Returns what tool_run does. */
int tool_run_to(char *const *arguments, int output);

/* Runs it with an empty input and no output but the first size - 1 bytes on both streams, left in
   text. Returns what tool_run does. */
int tool_run_silently(char *const *arguments, char *text, size_t size);

/* What a program that reads hostile files may use. */
struct tool_limits {
    uint64_t memory, output; /* bytes: of address space, and of each file that it writes */
    unsigned processor_seconds, seconds;
};

#define TOOL_TOO_LONG (-1) /* it was ended after limits->seconds */

/* Runs it as tool_run_silently does, within limits, as one of as many at a time as there are
   processors; others wait. One that runs for a minute does not keep others waiting any longer. It
   inherits descriptors, too, up to -1; what it prints is dropped. To be called by several threads.
   Returns TOOL_TOO_LONG as well. */
int tool_run_limited(char *const *arguments, const int *inherited,
                     const struct tool_limits *limits);

/* Becomes it. Returns only if that fails, with errno. */
void tool_become(char *const *arguments);

#endif
