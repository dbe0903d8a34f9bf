/* The agent as a part of a static executable; trace/embedded_agent.h has the picture. */
#ifndef UMBRA_HOOKS_EMBEDDED_H
#define UMBRA_HOOKS_EMBEDDED_H

#include <stdbool.h>

/*
 * True once hooks may use thread-local storage: always in a library; in a static executable from
 * the first call on that finds the C library done with setting it up, which begins the session.
 */
bool embedded_begun(void);

/* linux/start.c. False: this kernel cannot do what hooks need, none may run. */
bool agent_begin_with(char *const *environment);
void agent_end(void);

#endif
