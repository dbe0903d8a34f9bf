/* `umbra record`. */
#ifndef UMBRA_FRONT_RECORD_H
#define UMBRA_FRONT_RECORD_H

/* arguments[0] is the verb. Returns the exit status: the program's. */
int record_main(int count, char **arguments);

#endif
