#ifndef UMBRA_HOOKS_LINUX_START_H
#define UMBRA_HOOKS_LINUX_START_H

#include <stdbool.h>

/* False: this kernel cannot do what hooks need, none may run. */
bool agent_begin_in(char *const *environment);
void agent_end(void);

/* In a dynamic program, before the agent's constructor: begins it if it can begin already. True: it
   has begun. */
bool agent_begin_early(void);

#endif
