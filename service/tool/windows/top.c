#include "service/tool/top.h"

#include "service/base/message.h"

int top_run(const struct options *options, char *const *traces, uint32_t last)
{
    (void)options;
    (void)traces;
    (void)last;
    message("top: the grinder, which shows it, runs on Linux only; see list for the sessions");
    return 1;
}
