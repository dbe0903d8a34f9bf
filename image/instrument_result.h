/*
 * What came of a file, as `instrument --result-fd` tells other programs, in lines:
 *
 *      umbra-result=1          the version of these lines
 *      outcome=refused         instrumented, listed, nothing-to-hook, refused or failed
 *      reason=go               a word of enum instrument_reason
 *      text=expected code …    the same for people, without the file's name in front
 *      found=0                 functions: these four if they were looked for, which is so
 *      hooked=0                if the outcome is instrumented or nothing-to-hook
 *      copied=0                of those hooked: their bodies, too
 *      unsafe=0                of the others: for want of a safe patch
 *      unmatched=--exclude=X   any number: options that matched nothing
 *      end
 *
 * A reader takes nothing else: it may come from a program that a hostile file has taken over.
 */
#ifndef UMBRA_IMAGE_INSTRUMENT_RESULT_H
#define UMBRA_IMAGE_INSTRUMENT_RESULT_H

#include <stddef.h>
#include <stdint.h>

#include "support/failure.h"

#define INSTRUMENT_RESULT_SIZE (32 << 10) /* bytes of all lines, at most */
#define INSTRUMENT_TEXT_SIZE   512

enum instrument_outcome {
    INSTRUMENT_DONE,    /* OUT was written */
    INSTRUMENT_LISTED,  /* --list */
    INSTRUMENT_NOTHING, /* there is no function to hook */
    INSTRUMENT_REFUSED, /* what the file is: it would be again */
    INSTRUMENT_FAILED,  /* something else, such as a full disk */
};

enum instrument_reason {
    REASON_NONE,
    /* nothing to hook */
    REASON_FILTER,       /* the filter lets none pass */
    REASON_NO_FUNCTIONS, /* none can be hooked */
    /* refused */
    REASON_NO_IMAGE,     /* neither a program nor a library */
    REASON_MACHINE,      /* for another machine */
    REASON_GO,           /* a Go program */
    REASON_INSTRUMENTED, /* it is already */
    REASON_AGENT,        /* the agent itself */
    REASON_MALFORMED,    /* it contradicts itself */
    REASON_UNSUPPORTED,  /* otherwise */
    /* failed */
    REASON_INPUT,        /* the file cannot be read */
    REASON_NO_AGENT,     /* there is no fitting agent, or it cannot be put beside OUT */
    REASON_OUTPUT,       /* OUT cannot be written */
    REASON_SIZE,         /* OUT would be larger than files may be (ulimit -f) */
    REASON_MEMORY,       /* memory ran out */
    REASON_VERIFICATION, /* LIEF found fault with what was written */
    REASON_OTHER,
};

struct instrument_result {
    enum instrument_outcome outcome;
    enum instrument_reason reason;
    char text[INSTRUMENT_TEXT_SIZE];
    uint64_t found, hooked, copied, unsafe;
    char unmatched[INSTRUMENT_RESULT_SIZE / 2]; /* lines, each with its end */
};

/* The outcome that a reason stands for. Of REASON_NONE it is INSTRUMENT_DONE. */
enum instrument_outcome instrument_reason_outcome(enum instrument_reason reason);

/* Adds an option, such as "exclude", and its pattern; leaves out what has no room any more. */
void instrument_result_add_unmatched(struct instrument_result *result, const char *option,
                                     const char *pattern);

/* Writes the lines, which always have room there, and a 0. Control characters, and bytes that are
   no UTF-8, become '?'. Takes no memory: it may have run out. Returns their size. */
size_t instrument_result_print(const struct instrument_result *result,
                               char lines[INSTRUMENT_RESULT_SIZE]);

/* Reads `size` bytes of lines, behind which there is room for a 0, and changes them. */
bool instrument_result_read(struct instrument_result *result, char *lines, size_t size,
                            struct failure *failure);

#endif
