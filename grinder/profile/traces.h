/* Names of trace files: a folder stands for all FOLDER/….bin in it, in the order of their names. */
#ifndef UMBRA_GRINDER_TRACES_H
#define UMBRA_GRINDER_TRACES_H

#include <stddef.h>

/* Both end with null; free the result with traces_free. Folders without traces are named in a
   message, and *result set to -1. */
char **traces_of(const char *const *paths, int *result);
void traces_free(char **traces);
/* NAME and suffix for a trace NAME.bin, or for one that is called NAME; to be freed. */
char *trace_beside(const char *trace, const char *suffix);
size_t traces_count(char *const *traces);

#endif
