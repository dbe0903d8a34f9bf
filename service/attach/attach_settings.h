/* What is to be attached to, and how. */
#ifndef UMBRA_SERVICE_ATTACH_SETTINGS_H
#define UMBRA_SERVICE_ATTACH_SETTINGS_H

#include <stdbool.h>
#include <sys/types.h>

struct attach_settings {
    pid_t pid;
    const char *instance;
    const char *socket_path; /* where the service of that instance accepts connections */
    const char *folder;      /* for the instrumented files, by which the grinder knows the functions; absolute */
    char *const *filters;    /* options of `instrument`, as --include=…; null at the end */
    bool is_sampled; /* its threads are to sample themselves */
    bool is_quiet;
};

#endif
