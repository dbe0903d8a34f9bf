/*
 * What its user would type each time, in $XDG_CONFIG_HOME/umbra/config, or in
 * ~/.config/umbra/config:
 *
 *      # so many times a second
 *      record --samples=2000 --leave='libfoo.so*'
 *      report --text
 *
 * The options of a verb, in front of those that are typed, so that the latter win. Words are
 * quoted as for a shell, but that a backslash counts within ' ', too: popt's way. A verb may have
 * several lines.
 */
#ifndef UMBRA_FRONT_CONFIG_H
#define UMBRA_FRONT_CONFIG_H

#include "front/base/words.h"
#include "front/tool/options.h"

struct config {
    struct words options; /* of the verb, but for what is typed instead */
    struct words origins; /* for each line with options, "PATH:LINE: record --samples=2000" */
    bool is_verbose;      /* it has --verbose */
};

/*
 * Reads it for that verb; typed, which ends with null, are the words behind the verb. No file is an
 * empty one. A file that another user may have written is left, and said so. Ends the process with
 * a message that names file and line if a line has no verb, or the verb's has what is no option of
 * it.
 */
void config_read(struct config *config, enum verb verb, char *const *typed);
void config_free(struct config *config);

#endif
