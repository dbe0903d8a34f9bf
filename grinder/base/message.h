/* What the grinder says to its user, on standard error: one line, "grinder: " in front, or the
   command that it was run by ("umbra report: "). */
#ifndef UMBRA_GRINDER_MESSAGE_H
#define UMBRA_GRINDER_MESSAGE_H

#include <stdbool.h>

#include "support/failure.h"

__attribute__((format(printf, 1, 2))) void message(const char *format, ...);
void message_failure(const struct failure *failure);

/* argument: 0 of the command line. "umbra VERB" is the name from here on. */
void message_name(const char *argument);
const char *message_own_name(void);

/* While it is on, nothing is said: for work that is done again afterwards. */
void message_mute(bool on);

#endif
