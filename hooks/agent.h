/* The agent's beginning. Its end, and the rest of its life, is start.c's in the platform's folder.
 */
#ifndef UMBRA_HOOKS_AGENT_H
#define UMBRA_HOOKS_AGENT_H

#include <stdbool.h>

/*
 * True once hooks may look for a thread's state. Where the program's own start does not call the
 * agent first, the first hook comes here and begins the session: on Linux in a static executable
 * (trace/embedded_agent.h), on Windows always.
 */
bool agent_begun(void);

#endif
