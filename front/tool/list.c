#include "front/tool/list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/base/say.h"
#include "front/recording/recording.h"
#include "front/tool/options.h"
#include "support/memory.h"

static void show(const char *name)
{
    struct recording recording;
    char *command, *began, *status;

    recording_open(&recording, name);
    command = recording_value(&recording, "command");
    began = recording_value(&recording, "began");
    status = recording_value(&recording, "status");
    printf("%-20s  %-20s  %9zu  %6zu  %-7s  %s\n", recording.name, began ? began : "",
           recording_count_traces(&recording), recording_count_files(&recording, "instrumented"),
           status                          ? status
           : recording_goes_on(&recording) ? "running"
                                           : "killed",
           command ? command : "");
    free(command);
    free(began);
    free(status);
    recording_free(&recording);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Those in that folder, or it itself. */
static bool show_all(const char *folder)
{
    struct words names = {0};
    DIR *directory;
    struct dirent *entry;

    if (recording_is_in(AT_FDCWD, folder) || errno == EACCES) {
        show(folder);
        return true;
    }
    directory = opendir(folder);
    if (!directory) {
        say("%s: %s", folder, strerror(errno));
        return false;
    }
    while ((entry = readdir(directory))) {
        char *name = strcmp(folder, ".") ? memory_print("%s/%s", folder, entry->d_name)
                                         : memory_copy_string(entry->d_name);
        if (recording_is_in(AT_FDCWD, name))
            words_add(&names, name);
        free(name);
    }
    closedir(directory);
    if (names.count)
        qsort(names.list, names.count, sizeof(*names.list), by_name);
    for (size_t i = 0; i < names.count; i++)
        show(names.list[i]);
    words_free(&names);
    return true;
}

static int show_left(const char *name)
{
    struct recording recording;

    recording_open(&recording, name);
    recording_show_left(&recording, stdout);
    recording_free(&recording);
    return 0;
}

int list_main(int count, char **arguments)
{
    struct option *table = verb_getopt_table(VERB_LS);
    char *letters = verb_getopt_letters(VERB_LS);
    bool is_left = false, ok = true;
    int code;

    opterr = 0;
    while ((code = getopt_long(count, arguments, letters, table, NULL)) >= 0) {
        if (code == '?')
            say_wrong_option("ls", arguments[optind - 1]);
        is_left = is_left || code == OPTION_LEFT;
    }
    free(table);
    free(letters);
    if (is_left && count - optind > 1)
        say_and_exit(STATUS_USAGE, "ls: --left is of one recording");
    if (is_left)
        return show_left(optind < count ? arguments[optind] : RECORDING_DEFAULT);
    printf("%-20s  %-20s  %9s  %6s  %-7s  %s\n", "recording", "began", "processes", "images",
           "status", "command");
    if (optind == count)
        ok = show_all(".");
    for (; optind < count; optind++)
        ok = show_all(arguments[optind]) && ok;
    return ok ? 0 : STATUS_FAILED;
}
