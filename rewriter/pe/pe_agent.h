/* The agents for PE images, of each processor. */
#ifndef UMBRA_REWRITER_PE_AGENT_H
#define UMBRA_REWRITER_PE_AGENT_H

#include "rewriter/format/agent_format.h"

extern const struct agent_format agent_pe, agent_pe32;

#endif
