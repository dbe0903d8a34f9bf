/* An agent that the dynamic linker loads: neither a part of its program, nor put into one that
 * runs. */
#include <stddef.h>

#include "hooks/agent.h"
#include "hooks/linux/attachment.h"
#include "hooks/linux/start.h"

const char *attachment_path(uint64_t base)
{
    (void)base;
    return NULL;
}

const char *attachment_socket(void)
{
    return NULL;
}

bool agent_begun(void)
{
    return agent_begin_early();
}
