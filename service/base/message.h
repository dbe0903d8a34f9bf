/* What the service says to people: one line a message, under its own name. */
#ifndef UMBRA_SERVICE_MESSAGE_H
#define UMBRA_SERVICE_MESSAGE_H

#include <stdbool.h>

/*
 * Writes "call_trace_service: TEXT\n" in one piece to standard error or, with the time (UTC) and
 * the pid before it, to the log file:
 *
 *      2026-11-21T14:03:07.123Z call_trace_service[4711]: TEXT
 *
 * Control characters and what is no UTF-8, which names may hold, become '?' (support/utf8.h); what
 * is longer than a screenful is cut.
 */
void message(const char *format, ...) __attribute__((format(SERVICE_PRINTF, 1, 2)));

/* argument: 0 of the command line. "umbra VERB" stands for "call_trace_service" on standard error from
   here on; lasts. */
void message_name(const char *argument);

/* From here on messages go to that file. Returns false after one message on standard error. */
bool message_open_log(const char *path);

/* Opens the file anew, for it may have been renamed; where that fails, the old one says so. */
void message_reopen_log(void);

bool message_has_log(void);

#endif
