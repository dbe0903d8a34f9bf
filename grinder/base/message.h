/* What the grinder says to its user, on standard error: one line, "grinder: " in front. */
#ifndef UMBRA_GRINDER_MESSAGE_H
#define UMBRA_GRINDER_MESSAGE_H

#include <stdbool.h>

__attribute__((format(printf, 1, 2))) void message(const char *format, ...);

/* While it is on, nothing is said: for work that is done again afterwards. */
void message_mute(bool on);

#endif
