#include "service/traces/part_file.h"

/* None is made there. */
void part_file_clean(int directory)
{
    (void)directory;
}
