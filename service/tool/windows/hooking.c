#include "service/tool/hooking.h"

/* The command line has refused it. */
int hooking_run(const struct options *options)
{
    (void)options;
    return 1;
}
