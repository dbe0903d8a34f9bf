#include "service/stacks/stacks.h"

#include "service/base/message.h"

int stacks_record(const struct stacks_settings *settings)
{
    (void)settings;
    message("--mode=samples: Windows programs are not sampled");
    return 1;
}
