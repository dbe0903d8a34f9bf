#include "support/command_line.h"

#include <stdio.h>
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

int command_line_find_value(const struct command_option *row, const char *word)
{
    const char *value = row->values;

    for (int place = 0; value && *value; place++) {
        size_t length = strcspn(value, " ");
        if (strlen(word) == length && !strncmp(value, word, length))
            return place;
        value += length + strspn(value + length, " ");
    }
    return -1;
}

const char *command_line_list_values(const struct command_option *row, char *text, size_t size)
{
    const char *value = row->values;
    size_t used = 0;

    *text = 0;
    while (*value && used < size) {
        size_t length = strcspn(value, " ");
        const char *next = value + length + strspn(value + length, " ");
        const char *before = value == row->values ? "" : *next ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", before, (int)length, value);
        value = next;
    }
    return text;
}

/* Whether a row before it has the same name, so that this one adds nothing. */
static bool is_repeated(const struct command_option *options, unsigned verbs,
                        const struct command_option *row)
{
    return row->name && command_line_named(options, verbs, row->name, strlen(row->name)) != row;
}

/* --- reading --- */

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

static void print_spelling(const struct command_option *row, const char *values)
{
    printf("\t%s\t", values);
    for (const char *letter = row->help; *letter; letter++)
        putchar(*letter == '\n' ? ' ' : *letter);
    putchar('\n');
}

void command_line_print_options(const struct command_option *options, unsigned verbs)
{
    for (const struct command_option *row = options; !is_last(row); row++) {
        const char *values = !row->value ? "-" : row->values ? row->values : row->value;
        if (!(row->verbs & verbs) || row->section == COMMAND_LINE_HIDDEN ||
            is_repeated(options, verbs, row))
            continue;
        if (row->name) {
            printf("--%s%s", row->name, row->value ? "=" : "");
            print_spelling(row, values);
        }
        if (row->letter) {
            printf("-%c", row->letter);
            print_spelling(row, values);
        }
    }
}
