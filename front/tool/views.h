/* `umbra report`, `top` and `diff`: the grinder, with what it has to be told of a recording. */
#ifndef UMBRA_FRONT_VIEWS_H
#define UMBRA_FRONT_VIEWS_H

/* arguments[0] is the verb. Each returns an exit status. */
int report_main(int count, char **arguments);
int top_main(int count, char **arguments);
int diff_main(int count, char **arguments);

#endif
