#include "rewriter/functions/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/base/say.h"
#include "rewriter/functions/patch_reason.h"
#include "support/memory.h"
#include "support/utf8.h"

static const char *state_of(uint8_t reason)
{
    return patch_reason_is_hooked(reason) ? "hooked" : "skipped";
}

static const char *word_of(const struct listed *listed)
{
    return listed->is_copied ? "copied" : patch_reason_word(listed->reason);
}

/* A name as in the table, with JSON's escapes: there are no control characters in it. */
static void write_json_name(const struct listed *listed)
{
    char *name;

    if (!listed->name) {
        fputs("null", stdout);
        return;
    }
    name = memory_print("%s%s", listed->name, listed->is_import ? "@plt" : "");
    utf8_sanitise(name);
    putchar('"');
    for (const char *at = name; *at; at++) {
        if (*at == '"' || *at == '\\')
            putchar('\\');
        putchar(*at);
    }
    putchar('"');
    free(name);
}

static void write_json(const struct list *list, const struct listed *listed)
{
    printf("%s\n  {\"address\": \"%#" PRIx64 "\", \"size\": %" PRIu64
           ", \"state\": \"%s\", \"how\": \"%s\", \"name\": ",
           list->count ? "," : "", listed->address, listed->size, state_of(listed->reason),
           word_of(listed));
    write_json_name(listed);
    if (listed->doubt)
        printf(", \"not-copied\": \"%s\"", listed->doubt);
    putchar('}');
}

static void write_row(const struct list *list, const struct listed *listed)
{
    printf("%#" PRIx64 "\t%" PRIu64 "\t%s\t%s\t", listed->address, listed->size,
           state_of(listed->reason), word_of(listed));
    if (listed->name)
        utf8_write_plain(stdout, listed->name);
    if (listed->is_import)
        fputs("@plt", stdout);
    if (list->has_doubts)
        printf("\t%s", listed->doubt ? listed->doubt : "");
    putchar('\n');
}

void list_begin(struct list *list)
{
    if (list->is_json)
        putchar(list->is_summary ? '{' : '[');
    else if (list->is_summary)
        puts("state\thow\tfunctions\tbytes");
    else
        printf("address\tsize\tstate\thow\tname%s\n", list->has_doubts ? "\tnot copied" : "");
}

static void add(struct list_sum *sum, const struct listed *listed)
{
    sum->functions++;
    sum->bytes += listed->size;
}

static void add_doubt(struct list *list, const struct listed *listed)
{
    size_t i = 0;

    while (i < list->doubt_count && strcmp(list->doubts[i].word, listed->doubt) != 0)
        i++;
    if (i == LIST_DOUBTS)
        return;
    if (i == list->doubt_count)
        list->doubts[list->doubt_count++] = (struct list_doubt){.word = listed->doubt};
    add(&list->doubts[i].sum, listed);
}

void list_function(struct list *list, const struct listed *listed)
{
    add(listed->is_copied ? &list->copied : &list->sums[listed->reason], listed);
    if (listed->doubt)
        add_doubt(list, listed);
    if (!list->is_summary && list->is_json)
        write_json(list, listed);
    else if (!list->is_summary)
        write_row(list, listed);
    list->count++;
    say_check_stdout();
}

static struct list_sum sum_of(const struct list *list, bool (*is_meant)(uint8_t reason))
{
    struct list_sum sum = {0};

    if (is_meant(PATCH_PLAIN)) /* and so all that are hooked */
        sum = list->copied;
    for (size_t i = 0; i < LIST_REASONS; i++) {
        if (!is_meant((uint8_t)i))
            continue;
        sum.functions += list->sums[i].functions;
        sum.bytes += list->sums[i].bytes;
    }
    return sum;
}

static bool is_skipped(uint8_t reason)
{
    return !patch_reason_is_hooked(reason);
}

static bool is_any(uint8_t reason)
{
    (void)reason;
    return true;
}

static const struct {
    const char *name;
    bool (*is_meant)(uint8_t reason);
} totals[] = {
    {"all", is_any},
    {"hooked", patch_reason_is_hooked},
    {"skipped", is_skipped},
    {"no-safe-patch", patch_reason_is_unsafe}, /* of those that are skipped */
};

#define TOTALS (sizeof(totals) / sizeof(*totals))

static void write_sum(const char *state, const char *how, const struct list_sum *sum)
{
    if (sum->functions)
        printf("%s\t%s\t%zu\t%" PRIu64 "\n", state, how, sum->functions, sum->bytes);
}

static void write_summary(const struct list *list)
{
    write_sum("hooked", "copied", &list->copied);
    for (size_t i = 0; i < LIST_REASONS; i++)
        write_sum(state_of((uint8_t)i), patch_reason_word((uint8_t)i), &list->sums[i]);
    for (size_t i = 0; i < list->doubt_count; i++)
        write_sum("not-copied", list->doubts[i].word, &list->doubts[i].sum);
    for (size_t i = 0; i < TOTALS; i++) {
        struct list_sum sum = sum_of(list, totals[i].is_meant);

        printf("%s\t\t%zu\t%" PRIu64 "\n", totals[i].name, sum.functions, sum.bytes);
    }
}

/* Separated from those before it by *separator. */
static void write_json_sum(const char **separator, const char *state, const char *how,
                           const struct list_sum *sum)
{
    if (!sum->functions)
        return;
    printf("%s\n    {\"state\": \"%s\", \"how\": \"%s\", \"functions\": %zu, \"bytes\": %" PRIu64
           "}",
           *separator, state, how, sum->functions, sum->bytes);
    *separator = ",";
}

static void write_json_summary(const struct list *list)
{
    const char *separator = "";

    for (size_t i = 0; i < TOTALS; i++) {
        struct list_sum sum = sum_of(list, totals[i].is_meant);

        printf("\n  \"%s\": {\"functions\": %zu, \"bytes\": %" PRIu64 "},", totals[i].name,
               sum.functions, sum.bytes);
    }
    fputs("\n  \"reasons\": [", stdout);
    write_json_sum(&separator, "hooked", "copied", &list->copied);
    for (size_t i = 0; i < LIST_REASONS; i++)
        write_json_sum(&separator, state_of((uint8_t)i), patch_reason_word((uint8_t)i),
                       &list->sums[i]);
    fputs("\n  ]", stdout);
    if (!list->has_doubts)
        return;
    separator = "";
    fputs(",\n  \"not-copied\": [", stdout);
    for (size_t i = 0; i < list->doubt_count; i++)
        write_json_sum(&separator, "hooked", list->doubts[i].word, &list->doubts[i].sum);
    fputs("\n  ]", stdout);
}

void list_end(const struct list *list)
{
    if (list->is_summary && list->is_json)
        write_json_summary(list);
    else if (list->is_summary)
        write_summary(list);
    if (list->is_json)
        puts(list->is_summary ? "\n}" : "\n]");
    say_check_stdout();
}
