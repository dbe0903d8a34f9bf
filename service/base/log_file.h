/* The file that messages go to. */
#ifndef UMBRA_SERVICE_LOG_FILE_H
#define UMBRA_SERVICE_LOG_FILE_H

/*
 * Opens it to append to, for this user alone if it is made; what is a link, or no regular file, is
 * refused. Returns a descriptor for write(2), or -1, errno set.
 */
int log_file_open(const char *path);

/* The path from the root, to be freed; null, errno set. */
char *log_file_absolute(const char *path);

#endif
