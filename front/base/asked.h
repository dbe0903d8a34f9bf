/*
 * `instrument`, asked: what it tells of a file is read from a memory file that it inherits
 * (--result-fd), never from what it prints.
 */
#ifndef UMBRA_FRONT_ASKED_H
#define UMBRA_FRONT_ASKED_H

#include "front/base/tools.h"
#include "front/base/words.h"
#include "image/instrument_result.h"

/*
 * Runs it within limits, with those arguments, which do not name the program; it inherits descriptors
 * up to -1, too. Returns what tool_run_limited does. After the status 0 or 1 there is a result: one
 * that is missing, damaged, or contradicts the status is INSTRUMENT_FAILED, and its text says so.
 * After any other there is INSTRUMENT_FAILED, too. To be called by several threads.
 */
int asked_instrument(const struct words *arguments, const int *inherited,
                     const struct tool_limits *limits, struct instrument_result *result);

#endif
