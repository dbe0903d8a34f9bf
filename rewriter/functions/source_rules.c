#include "rewriter/functions/source_rules.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/line_tables.h"
#include "rewriter/base/child.h"

#define CHILD_SECONDS 60
#define CHILD_MEMORY  (4ull << 30)

struct search {
    struct filter *filter;
    const struct function_list *functions;
    uint32_t *rules;
    struct line_tables tables;
};

/* The rule that matches the file. */
static uint32_t rule_of(void *context, const char *file)
{
    struct search *search = context;

    return (uint32_t)filter_match_path(search->filter, FILTER_SOURCE, file);
}

static void read_rows(void *context, Dwarf_Line *rows, Dwarf_Signed count)
{
    struct search *search = context;
    Dwarf_Addr address = 0, previous = UINT64_MAX;
    Dwarf_Error error = NULL;

    for (Dwarf_Signed i = 0; i < count; i++) {
        Dwarf_Bool is_end = 0;
        const struct function *function;

        if (dwarf_lineaddr(rows[i], &address, &error) != DW_DLV_OK ||
            dwarf_lineendsequence(rows[i], &is_end, &error) != DW_DLV_OK)
            return;
        if (is_end || address == previous) {
            previous = is_end ? UINT64_MAX : address;
            continue;
        }
        previous = address;
        function = function_list_at(search->functions, address);
        if (function)
            search->rules[function - search->functions->items] =
                line_tables_file(&search->tables, rows[i]);
    }
}

/* What libdwarf would open: a pipe never ends, and a device may do anything. */
static bool is_file_or_nothing(const char *path)
{
    struct stat status;

    return stat(path, &status) < 0 || S_ISREG(status.st_mode);
}

/* Whether all that may be the image's debug file, by what the image says and by its own name, are
 * files. */
static bool leads_to_files(const char *path)
{
    const char *slash = strrchr(path, '/');
    Dwarf_Debug debug = NULL;
    Dwarf_Error error = NULL;
    char *link = NULL, *full = NULL, *owner = NULL, **places = NULL; /* what is not there stays */
    unsigned char *checksum = NULL, *id = NULL;
    unsigned full_size = 0, id_type = 0, id_size = 0, count = 0;
    char bundle[2 * PATH_MAX];
    bool are_files;

    snprintf(bundle, sizeof(bundle), "%s.dSYM/Contents/Resources/DWARF/%s", path,
             slash ? slash + 1 : path);
    are_files = is_file_or_nothing(bundle) &&
                dwarf_init_path(path, NULL, 0, DW_DLC_READ, DW_GROUPNUMBER_ANY, NULL, NULL, &debug,
                                NULL, 0, NULL, &error) == DW_DLV_OK;
    if (debug && dwarf_gnu_debuglink(debug, &link, &checksum, &full, &full_size, &id_type, &owner,
                                     &id, &id_size, &places, &count, &error) == DW_DLV_OK)
        for (unsigned i = 0; i < count; i++)
            are_files &= is_file_or_nothing(places[i]);
    free(places);
    free(full);
    return are_files;
}

/* In the child: raises rules[i] of each function that the rules for sources match. */
static void match_lines(struct filter *filter, const char *path,
                        const struct function_list *functions, uint32_t *rules)
{
    struct search search = {
        .filter = filter,
        .functions = functions,
        .rules = rules,
        .tables = {.context = &search, .read = read_rows, .number_of = rule_of},
    };
    Dwarf_Error error = NULL;
    char debug_file[PATH_MAX]; /* libdwarf follows the image's link to it, if there is a buffer */
    bool follows = leads_to_files(path);

    if (dwarf_init_path(path, follows ? debug_file : NULL, follows ? sizeof(debug_file) : 0,
                        DW_DLC_READ, DW_GROUPNUMBER_ANY, NULL, NULL, &search.tables.debug, NULL, 0,
                        NULL, &error) == DW_DLV_OK)
        line_tables_read(&search.tables);
}

/* What the child found, in the parent. */
static void take(struct filter *filter, const struct function_list *functions,
                 const uint32_t *shared, size_t *rules)
{
    const uint32_t *matched = shared + functions->count;

    for (size_t i = 0; i < functions->count; i++)
        if (shared[i] > rules[i] && shared[i] <= filter->count)
            rules[i] = shared[i];
    for (size_t i = 0; i < filter->count; i++)
        if (matched[i])
            filter->rules[i].has_matched = true;
}

void source_rules_match(struct filter *filter, const char *path,
                        const struct function_list *functions, size_t *rules)
{
    size_t size = (functions->count + filter->count) * sizeof(uint32_t);
    uint32_t *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid;

    if (shared == MAP_FAILED)
        return;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        for (size_t i = 0; i < filter->count; i++)
            filter->rules[i].has_matched = false;
        child_begin(CHILD_MEMORY, CHILD_SECONDS);
        match_lines(filter, path, functions, shared);
        for (size_t i = 0; i < filter->count; i++)
            shared[functions->count + i] = filter->rules[i].has_matched;
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    take(filter, functions, shared, rules);
    munmap(shared, size);
}
