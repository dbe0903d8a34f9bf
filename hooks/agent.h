/* Has the agent begun? The first hook asks. agent_life.h says how it begins. */
#ifndef UMBRA_HOOKS_AGENT_H
#define UMBRA_HOOKS_AGENT_H

#include <stdbool.h>

/*
 * True once hooks may look for a thread's state. Where the program's own start does not call the
 * agent first, the first hook comes here and begins the session: on Linux in a static executable
 * (trace/embedded_agent.h) and in a preinit function, on Windows always.
 */
bool agent_begun(void);

#endif
