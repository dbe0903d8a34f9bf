#include "support/command_line.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/nearest.h"

#define COLUMNS 80

/* What getopt_long returns for a name is its row, from here on. Letters are less. */
#define FIRST_ROW 256

/* --- the table --- */

static bool is_last(const struct command_option *row)
{
    return !row->name && !row->letter;
}

const struct command_option *command_line_named(const struct command_option *options,
                                                unsigned verbs, const char *name, size_t length)
{
    for (const struct command_option *row = options; !is_last(row); row++)
        if (row->verbs & verbs && row->name && strlen(row->name) == length &&
            !strncmp(row->name, name, length))
            return row;
    return NULL;
}

const struct command_option *command_line_lettered(const struct command_option *options,
                                                   unsigned verbs, char letter)
{
    for (const struct command_option *row = options; !is_last(row); row++)
        if (row->verbs & verbs && row->letter && row->letter == letter)
            return row;
    return NULL;
}

const char *command_line_nearest(const struct command_option *options, unsigned verbs,
                                 const char *name, size_t length)
{
    struct nearest nearest = nearest_to(name, length);

    for (const struct command_option *row = options; !is_last(row); row++)
        if (row->verbs & verbs && row->name && row->section != COMMAND_LINE_HIDDEN)
            nearest_offer(&nearest, row->name);
    return nearest.word;
}

/* --- values --- */

/* One of row->values. */
struct value {
    const char *text; /* null behind the last */
    size_t length;
    bool is_range;
};

static struct value value_at(const char *text)
{
    struct value value = {text, text ? strcspn(text, " ") : 0, false};

    if (!value.length)
        return (struct value){NULL, 0, false};
    for (size_t i = 0; i + 1 < value.length; i++)
        value.is_range = value.is_range || (text[i] == '.' && text[i + 1] == '.');
    return value;
}

static struct value next_value(struct value value)
{
    const char *end = value.text + value.length;

    return value_at(end + strspn(end, " "));
}

int command_line_find_value(const struct command_option *row, const char *word)
{
    int place = 0;

    for (struct value value = value_at(row->values); value.text; value = next_value(value)) {
        if (!value.is_range && strlen(word) == value.length &&
            !strncmp(value.text, word, value.length))
            return place;
        place++;
    }
    return -1;
}

static bool counts(const struct command_option *row, const char *unit)
{
    return row->value && !strcmp(row->value, unit);
}

/* Reads a number in the row's unit, and leaves where it ends. */
static bool read_number(const struct command_option *row, const char *text, double *number,
                        const char **end)
{
    static const char suffixes[] = "KMG";
    size_t digits = strspn(text, "0123456789");
    const char *suffix;

    *end = text + digits;
    if (!digits)
        return false;
    if (counts(row, "SECONDS") && **end == '.' && (*end)[1] != '.')
        *end += 1 + strspn(*end + 1, "0123456789");
    *number = strtod(text, NULL);
    if (counts(row, "BYTES") && **end &&
        (suffix = strchr(suffixes, toupper((unsigned char)**end)))) {
        *number *= (double)(1ull << 10 * (suffix - suffixes + 1));
        ++*end;
    }
    return true;
}

bool command_line_number(const struct command_option *row, const char *word, double *number)
{
    const char *end;

    if (!read_number(row, word, number, &end) || *end)
        return false;
    for (struct value value = value_at(row->values); value.text; value = next_value(value)) {
        double least, most;
        if (!read_number(row, value.text, &least, &end))
            continue;
        if (!value.is_range)
            most = least;
        else if (!read_number(row, end + 2, &most, &end))
            most = HUGE_VAL;
        if (*number >= least && *number <= most)
            return true;
    }
    return false;
}

/* "perf", "a number from 0 to 10000", "bytes from 1M". */
static size_t list_value(const struct command_option *row, struct value value, char *text,
                         size_t size)
{
    const char *unit = counts(row, "BYTES")     ? "bytes"
                       : counts(row, "SECONDS") ? "seconds"
                                                : "a number";
    const char *dots = value.is_range ? strstr(value.text, "..") : NULL;
    int least = dots ? (int)(dots - value.text) : 0;
    int most = dots ? (int)value.length - least - 2 : 0;

    if (!dots)
        return (size_t)snprintf(text, size, "%.*s", (int)value.length, value.text);
    return (size_t)snprintf(text, size, "%s from %.*s%s%.*s", unit, least, value.text,
                            most ? " to " : "", most, dots + 2);
}

const char *command_line_list_values(const struct command_option *row, char *text, size_t size)
{
    size_t used = 0;

    *text = 0;
    for (struct value value = value_at(row->values); value.text && used < size;) {
        struct value next = next_value(value);
        used += list_value(row, value, text + used, size - used);
        if (next.text && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s",
                                     next_value(next).text ? ", " : " or ");
        value = next;
    }
    return text;
}

/* --- reading --- */

/* Whether a row before it has the same name, so that this one adds nothing. */
static bool is_repeated(const struct command_option *options, unsigned verbs,
                        const struct command_option *row)
{
    return row->name && command_line_named(options, verbs, row->name, strlen(row->name)) != row;
}

/* A colon in front: getopt_long tells a value that is missing from an option that there is not. */
static void fill_letters(struct command_line *line)
{
    char *end = line->letters;

    if (line->is_ended_by_word)
        *end++ = '+';
    *end++ = ':';
    for (const struct command_option *row = line->options; !is_last(row); row++) {
        if (!row->letter || !(row->verbs & line->verbs))
            continue;
        *end++ = row->letter;
        if (row->value)
            *end++ = ':';
    }
    *end = 0;
}

void command_line_begin(struct command_line *line, const struct command_option *options,
                        unsigned verbs, int count, char **words)
{
    int used = 0;

    *line = (struct command_line){
        .options = options, .verbs = verbs, .count = count, .words = words, .rest = words + count};
    for (const struct command_option *row = options; !is_last(row); row++)
        if (row->verbs & verbs && row->name && used < COMMAND_LINE_MOST &&
            !is_repeated(options, verbs, row))
            line->table[used++] =
                (struct option){row->name, row->value ? required_argument : no_argument, NULL,
                                FIRST_ROW + (int)(row - options)};
    opterr = 0;
    optind = 0; /* begin anew, also where one was read before */
}

/* What getopt_long refused: a name. */
static void refuse_name(struct command_line *line, const char *word)
{
    size_t length = strcspn(word + 2, "=");

    line->word = word;
    line->option = command_line_named(line->options, line->verbs, word + 2, length);
    if (line->option) {
        line->fault = line->option->value ? COMMAND_LINE_LACKS : COMMAND_LINE_EXCESS;
        return;
    }
    line->fault = COMMAND_LINE_UNKNOWN;
}

static void refuse_letter(struct command_line *line, char letter)
{
    line->word = line->letter_word;
    memcpy(line->letter_word, (char[]){'-', letter, 0}, sizeof(line->letter_word));
    line->option = command_line_lettered(line->options, line->verbs, letter);
    line->fault = line->option ? COMMAND_LINE_LACKS : COMMAND_LINE_UNKNOWN;
}

/*
 * optopt is the letter that getopt_long refused; of a name it is 0 or the row's number. Where a
 * word has several letters, getopt_long may have gone on to the next word already, or not: the word
 * before optind is the one refused only if it is a name.
 */
static void refuse(struct command_line *line)
{
    if (optopt && optopt < FIRST_ROW)
        refuse_letter(line, (char)optopt);
    else
        refuse_name(line, line->words[optind - 1]);
}

/* Whether the word that was read is the whole name: its value is behind '=', or the next word. */
static bool is_whole(const struct command_line *line, const char **word)
{
    *word = line->words[optind - 1];
    if (optarg && optarg == *word)
        *word = line->words[optind - 2];
    return strlen(line->option->name) == strcspn(*word + 2, "=");
}

/* As in -o=FOLDER, which is taken for -oFOLDER. */
static bool has_equals_sign(const struct command_line *line)
{
    return optarg && *optarg == '=' && optarg != line->words[optind - 1];
}

bool command_line_next(struct command_line *line)
{
    int code;

    if (!*line->letters)
        fill_letters(line);
    line->fault = COMMAND_LINE_FINE;
    line->word = NULL;
    optarg = NULL;
    code = getopt_long(line->count, line->words, line->letters, line->table, NULL);
    if (code < 0) {
        line->rest = line->words + optind;
        return false;
    }
    if (code == '?' || code == ':') {
        refuse(line);
        return true;
    }
    line->value = optarg;
    if (code < FIRST_ROW) {
        line->option = command_line_lettered(line->options, line->verbs, (char)code);
        line->value += has_equals_sign(line);
        return true;
    }
    line->option = line->options + (code - FIRST_ROW);
    if (line->has_whole_names && !is_whole(line, &line->word))
        refuse_name(line, line->word);
    return true;
}

bool command_line_check(const struct command_line *line, struct failure *failure)
{
    const char *near;

    switch (line->fault) {
    case COMMAND_LINE_FINE:
        break;
    case COMMAND_LINE_LACKS:
        return fail(failure, line->word, "expected %s behind it, found nothing",
                    line->option->value);
    case COMMAND_LINE_EXCESS:
        return fail(failure, line->word, "unexpected value, --%s takes none", line->option->name);
    case COMMAND_LINE_UNKNOWN:
        near = strncmp(line->word, "--", 2)
                   ? NULL
                   : command_line_nearest(line->options, line->verbs, line->word + 2,
                                          strcspn(line->word + 2, "="));
        return near ? fail(failure, line->word, "unknown option (did you mean --%s?)", near)
                    : fail(failure, line->word, "unknown option");
    }
    return true;
}

/* --- printing --- */

/* Of UTF-8, in columns. */
static int width_of(const char *text, size_t length)
{
    int width = 0;

    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

void command_line_print_text(const char *text, int column)
{
    int at = column;

    while (*text) {
        size_t length = strcspn(text, " \n");
        int width = width_of(text, length);
        if (at > column && at + 1 + width > COLUMNS) {
            printf("\n%*s", column, "");
            at = column;
        }
        at += printf("%s", at > column ? " " : "");
        printf("%.*s", (int)length, text);
        at += width;
        text += length;
        if (*text == '\n') {
            printf("\n%*s", column, "");
            at = column;
        }
        text += *text != 0;
    }
    putchar('\n');
}

static void print_row(const struct command_option *row, int column)
{
    int width = row->letter ? printf("  -%c%s", row->letter, row->name ? ", " : "") : printf("  ");

    if (row->name)
        width += printf("--%s", row->name);
    if (row->value)
        width += printf("%s%s", row->name ? "=" : " ", row->value);
    if (width < column)
        printf("%*s", column - width, "");
    else
        printf("\n%*s", column, "");
    command_line_print_text(row->help, column);
}

void command_line_print_help(const struct command_option *options, unsigned verbs, int section,
                             int column)
{
    for (const struct command_option *row = options; !is_last(row); row++)
        if (row->section == section && row->verbs & verbs)
            print_row(row, column);
}

static void print_values(const struct command_option *row)
{
    int count = 0;

    for (struct value value = value_at(row->values); value.text; value = next_value(value))
        if (!value.is_range)
            printf("%s%.*s", count++ ? " " : "", (int)value.length, value.text);
    if (!count)
        printf("%s", row->value ? row->value : "-");
}

/* Behind the spelling itself. */
static void print_spelling(const struct command_option *row)
{
    putchar('\t');
    print_values(row);
    putchar('\t');
    for (const char *letter = row->help; *letter; letter++)
        putchar(*letter == '\n' ? ' ' : *letter);
    putchar('\n');
}

void command_line_print_options(const struct command_option *options, unsigned verbs)
{
    for (const struct command_option *row = options; !is_last(row); row++) {
        if (!(row->verbs & verbs) || row->section == COMMAND_LINE_HIDDEN ||
            is_repeated(options, verbs, row))
            continue;
        if (row->name) {
            printf("--%s%s", row->name, row->value ? "=" : "");
            print_spelling(row);
        }
        if (row->letter) {
            printf("-%c", row->letter);
            print_spelling(row);
        }
    }
}
