/* For tests: an empty folder, which is the working directory, HOME and the place of the cache. */
#ifndef UMBRA_FRONT_OWN_FOLDER_H
#define UMBRA_FRONT_OWN_FOLDER_H

#include <stdbool.h>

/* Setup and teardown of cmocka: makes it, and removes it with all that is in it. */
int own_folder_enter(void **state);
int own_folder_leave(void **state);

/* Its path, without links. */
const char *own_folder_path(void);

/* A file in it, made anew or replaced; and what it holds, to be freed. Paths are relative. */
void own_file_write(const char *path, const char *text);
char *own_file_read(const char *path);
bool own_file_is(const char *path);

#endif
