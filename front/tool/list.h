/* `umbra ls`: recordings in a folder, and what one of them left alone. */
#ifndef UMBRA_FRONT_LIST_H
#define UMBRA_FRONT_LIST_H

int list_main(int count, char **arguments);

#endif
