/*
 * The agent within a static program (trace/embedded_agent.h) maps its thunks out of the program's
 * file: it is to get the instrumented one. All else of that program reads the original.
 */
#ifndef UMBRA_FRONT_EMBEDDED_AGENT_H
#define UMBRA_FRONT_EMBEDDED_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether that instruction of a process is one of the agent's that is within the copy. copy and
   original are descriptors, opened with O_PATH. */
bool embedded_agent_has(int copy, int original, pid_t pid, uint64_t instruction);

#endif
