/* The agents for ELF images. */
#ifndef UMBRA_REWRITER_ELF_AGENT_H
#define UMBRA_REWRITER_ELF_AGENT_H

#include "rewriter/format/agent_format.h"

extern const struct agent_format agent_elf, agent_elf32;

#endif
