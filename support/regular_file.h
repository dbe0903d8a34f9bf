/*
 * Opening a file to read it whose path somebody else chose.
 *
 * Nothing but a regular file is opened: to open some devices already does something, and a pipe has
 * somebody who waits. So the path is looked at without opening it (O_PATH), and the very file that
 * was looked at is opened then, whatever lies there by now.
 */
#ifndef UMBRA_SUPPORT_REGULAR_FILE_H
#define UMBRA_SUPPORT_REGULAR_FILE_H

/* A descriptor, or -1 with errno set. */
int regular_file_open(const char *path);

/* The same, of what name, a descriptor opened with O_PATH at path, stands for; it stays open. */
int regular_file_take(int name, const char *path);

/* What errno says of that: "is not a regular file", or what strerror has. Lasts. */
const char *regular_file_error(void);

#endif
