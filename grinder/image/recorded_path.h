/*
 * Finds the file here whose path was recorded elsewhere: on Windows, under Wine, or on another
 * machine.
 *
 *      --path-map=FROM=TO      the longest FROM that the path begins with is replaced; in FROM,
 *                              == stands for one =
 *      Z:\home\x\app.exe       /home/x/app.exe, as Wine has it
 *      C:\dir\app.exe          $WINEPREFIX/dosdevices/c:/dir/app.exe (~/.wine without a prefix)
 *      \\?\C:\dir\app.exe      as C:\dir\app.exe
 *
 * In Windows paths letters of either case are the same (those of ASCII), and so are \ and /: where
 * the name as spelt is missing, one that differs in case only is taken.
 */
#ifndef UMBRA_GRINDER_RECORDED_PATH_H
#define UMBRA_GRINDER_RECORDED_PATH_H

#include "trace/trace_format.h"

/* FROM, a zero byte and TO, of the text FROM=TO; to be freed. Null if it is no such text, or FROM
   is empty. */
char *recorded_path_map(const char *text);

/* The path here, to be freed; null if it cannot be told. path_maps are what recorded_path_map
   returned, and end with null; the list may be null. A Linux path that no map fits is itself;
   whether it is there is not looked at. */
char *recorded_path_find(const char *path, enum trace_system system, const char *const *path_maps);

/* What the path's file is called without its folders. */
const char *recorded_path_name(const char *path, enum trace_system system);

/* How the path is spelt: as on Windows if it begins with a drive or with two backslashes. */
enum trace_system recorded_path_system(const char *path);

#endif
