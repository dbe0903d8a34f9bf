#include "service/tool/attaching.h"

/* The command line has refused it. */
int attaching_run(const struct options *options)
{
    (void)options;
    return 1;
}
