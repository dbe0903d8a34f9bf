#ifndef UMBRA_HOOKS_LINUX_START_H
#define UMBRA_HOOKS_LINUX_START_H

#include <stdbool.h>

/* False: this kernel cannot do what hooks need, none may run. */
bool agent_begin_in(char *const *environment);
void agent_end(void);

#endif
