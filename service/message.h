/* What the service says to people: one line a message, on standard error, under its own name. */
#ifndef UMBRA_SERVICE_MESSAGE_H
#define UMBRA_SERVICE_MESSAGE_H

/*
 * Writes "call_trace_service: TEXT\n" in one piece. Control characters, which names may hold,
 * become '?'; what is longer than a screenful is cut.
 */
void message(const char *format, ...) __attribute__((format(SERVICE_PRINTF, 1, 2)));

#endif
