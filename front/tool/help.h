/* Pages of help, made of the tables of options.h. Each function returns an exit status. */
#ifndef UMBRA_FRONT_HELP_H
#define UMBRA_FRONT_HELP_H

#include "front/tool/options.h"

/* What there is, on one screen; a verb's page. */
int help_show_overview(void);
int help_show(enum verb verb);

/* For completions: a line for each verb, name<tab>what it does; the options of a verb, as
   command_line_print_options prints them. */
int help_print_verbs(void);
int help_print_options(enum verb verb);

#endif
