/* What the file of a command is. */
#ifndef UMBRA_SERVICE_COMMAND_KIND_H
#define UMBRA_SERVICE_COMMAND_KIND_H

enum command_kind {
    COMMAND_UNKNOWN,
    COMMAND_INSTRUMENTED,
    COMMAND_NOT_INSTRUMENTED, /* an image */
    COMMAND_IS_SCRIPT,
};

/* To be asked before it is started, for it may replace its own file. */
enum command_kind command_kind(const char *name);

#endif
