/*
 * Files as the service needs them: of this user alone, made where none was, sparse, read and
 * written in places, cut while others may have them mapped. Descriptors are the system's own (a
 * Windows handle fits in an int); all functions set errno when they fail.
 */
#ifndef UMBRA_SERVICE_FILE_H
#define UMBRA_SERVICE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_PATH_SIZE 4096 /* of the paths the service takes and makes */

/* Makes a directory of this user alone. Returns true if there is one already, of anybody. */
bool file_make_directory(const char *path);

/*
 * Opens a directory to make files in. Returns -1 if it may not be written to. *absolute becomes
 * its path, to be freed; null where it fails.
 */
int file_open_directory(const char *path, char **absolute);

/* Is path still the directory that was opened? True if that cannot be found out. */
bool file_is_directory(int directory, const char *path);

/* Makes a file of this user alone; EEXIST if the name is taken, by a link too. Returns -1. */
int file_create(int directory, const char *name);

/* Opens the file that has this identity, to read it. Returns -1 if it is no longer at path. */
int file_open_identified(const char *path, uint64_t identity);

/* Its length becomes size, with a hole at the end. EFBIG or EINVAL: less may be possible. */
bool file_extend(int file, uint64_t size);

/*
 * Cuts it. With if_unused, and where the system can tell, fails with EBUSY while another process
 * has it open or mapped: cutting a file below a mapping kills whoever writes to it.
 */
bool file_cut(int file, uint64_t size, bool if_unused);

/* All of it, or false: ENODATA if the file ends before, ENOSPC if there is no room for the rest. */
bool file_read_at(int file, void *bytes, size_t size, uint64_t offset);
bool file_write_at(int file, const void *bytes, size_t size, uint64_t offset);

/* A number no other file of the same file system has; 0 if it cannot be found out. */
uint64_t file_identity(int file);

/* The content of the file, or of the directory itself where name is null, is on the disk when this
 * returns. Does not wait for a file that is gone. */
bool file_sync(int directory, const char *name);

/* All files of the file system, of whomever, are on the disk when this returns. */
bool file_sync_all(int directory);

/* Maps its front, shared, to be read and written; null, errno set. It is to be as long as that:
   touching what was cut off kills. */
void *file_map(int file, size_t size);
void file_unmap(void *mapping, size_t size);

void file_close(int file);
void file_remove(int directory, const char *name);

/*
 * A small file of this user alone, at once and whole: whoever reads path finds the old one or the
 * new one. It replaces what is there; no link is followed. Who is killed meanwhile leaves nothing
 * (support/whole_file.h).
 */
bool file_replace(const char *path, const void *bytes, size_t size);
bool file_replace_in(int directory, const char *name, const void *bytes, size_t size);

/* Reads a file of this user that is no link, up to size bytes of it. Returns how many, or -1. */
ssize_t file_read_own(const char *path, void *bytes, size_t size);

void file_remove_path(const char *path);

#endif
