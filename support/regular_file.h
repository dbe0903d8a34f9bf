/*
 * Opening a file to read it whose path somebody else chose.
 *
 * Only a regular file is opened: opening some devices has an effect, and opening a pipe waits for
 * another process. So the file is first looked at without opening it (O_PATH). Then that very file
 * is opened, whatever has the path by now.
 */
#ifndef UMBRA_SUPPORT_REGULAR_FILE_H
#define UMBRA_SUPPORT_REGULAR_FILE_H

/* A descriptor, or -1 with errno set. */
int regular_file_open(const char *path);

/* Opens what name, a descriptor opened with O_PATH at path, stands for; it stays open. */
int regular_file_take(int name, const char *path);

/* What errno says of that: "is not a regular file", or what strerror has. Lasts. */
const char *regular_file_error(void);

#endif
