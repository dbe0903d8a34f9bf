/* Reads a service's answer: lines `KEY<tab>VALUE` (trace/protocol.h). */
#ifndef UMBRA_SERVICE_ANSWER_H
#define UMBRA_SERVICE_ANSWER_H

#include <stdint.h>

#include "service/tool/table.h"

/* The value, which is the table's; null if there is none of that key. */
const char *answer_text(const struct table *answer, const char *key);

/* The value as a number; 0 if there is none of that key. */
uint64_t answer_number(const struct table *answer, const char *key);

#endif
