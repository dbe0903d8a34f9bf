#include "service/tool/top.h"

#include "service/base/message.h"

int top_run(const struct options *options, char *const *traces)
{
    (void)options;
    (void)traces;
    message("top: the grinder, which shows it, runs on Linux only; see list for the sessions");
    return 1;
}
