/* Pages of help, made of the tables of options.h. Each function returns an exit status. */
#ifndef UMBRA_FRONT_HELP_H
#define UMBRA_FRONT_HELP_H

#include "front/tool/options.h"

/* What there is, on one screen; a verb's page. */
int help_show_overview(void);
int help_show(enum verb verb);

/*
 * For completions: a line for each spelling of a verb's options.
 *
 *      --output=<tab>FOLDER<tab>the recording (umbra.data)
 *      -o<tab>FOLDER<tab>the recording (umbra.data)
 *      --how=<tab>auto prologue copy<tab>auto (default: …
 *      --paused<tab>-<tab>record nothing before …
 *
 * The second field is what it may be, FOLDER or FILE for paths, another word in capitals if nothing
 * is known, - if it takes no value. Without a verb (VERB_COUNT) there is a line for each verb:
 * name<tab>what it does.
 */
int help_print_options(enum verb verb);

#endif
