#include "grinder/format.h"

const struct format formats[] = {
    {"callgrind", callgrind_write},
    {NULL, NULL},
};
