#include "service/launch/command_kind.h"

enum command_kind command_kind(const char *name)
{
    (void)name;
    return COMMAND_UNKNOWN;
}
