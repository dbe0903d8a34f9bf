#include "grinder/views/fit.h"

#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "support/memory.h"
#include "support/utf8.h"

/* The C library knows it for UTF-8, whatever the user's locale is. */
static size_t columns_of(uint32_t character)
{
    static locale_t utf8;
    locale_t before;
    int columns;

    if (character < 0x80)
        return 1;
    if (!utf8)
        utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!utf8)
        return 1;
    before = uselocale(utf8);
    columns = wcwidth((wchar_t)character);
    uselocale(before);
    return columns < 0 ? 1 : (size_t)columns;
}

size_t fit_columns(const char *text)
{
    size_t columns = 0;

    while (*text)
        columns += columns_of(utf8_next(&text));
    return columns;
}

/* The end of as much as fits in the columns, from the beginning. */
static const char *head(const char *text, size_t columns)
{
    const char *next = text;

    while (*text) {
        size_t width = columns_of(utf8_next(&next));
        if (width > columns)
            break;
        columns -= width;
        text = next;
    }
    return text;
}

/* The beginning of what fits in the columns, to the end. */
static const char *tail(const char *text, size_t columns)
{
    size_t all = fit_columns(text);

    while (all > columns)
        all -= columns_of(utf8_next(&text));
    while (*text) { /* no accent without its letter */
        const char *next = text;
        if (columns_of(utf8_next(&next)))
            break;
        text = next;
    }
    return text;
}

char *fit_cut(const char *text, size_t columns, const char *ellipsis)
{
    char *copy = memory_copy_string(text), *cut;
    size_t mark = fit_columns(ellipsis);
    size_t before;

    utf8_sanitise(copy);
    if (fit_columns(copy) <= columns)
        return copy;
    if (columns <= mark + 1) {
        copy[head(copy, columns) - copy] = 0;
        return copy;
    }
    before = (columns - mark + 1) / 2;
    cut = memory_print("%.*s%s%s", (int)(head(copy, before) - copy), copy, ellipsis,
                       tail(copy, columns - mark - before));
    free(copy);
    return cut;
}

static size_t word_length(const char *text)
{
    return strcspn(text, " ");
}

void fit_wrap(FILE *stream, const char *text, size_t columns, size_t indent, const char *ellipsis)
{
    size_t at = 0; /* columns that the line has */
    bool is_first = true;

    if (indent + 8 > columns)
        indent = 0;
    while (*text) {
        size_t blanks = strspn(text, " "), length = word_length(text + blanks);
        char *word = memory_print("%.*s", (int)length, text + blanks), *shown;
        if (!length) {
            free(word);
            break;
        }
        if (!is_first && at + blanks + fit_columns(word) > columns) {
            fprintf(stream, "\n%*s", (int)indent, "");
            at = indent;
        } else {
            fprintf(stream, "%*s", (int)blanks, "");
            at += blanks;
        }
        shown = fit_cut(word, columns > at ? columns - at : 1, ellipsis);
        fputs(shown, stream);
        at += fit_columns(shown);
        text += blanks + length;
        is_first = false;
        free(shown);
        free(word);
    }
    putc('\n', stream);
}

void fit_to_ascii(char *text)
{
    char *end = text;

    for (const char *next = text; *next;) {
        const char *from = next;
        uint32_t character = utf8_next(&next);
        if (next - from == 1 && (unsigned char)*from < 0x80)
            *end++ = *from;
        else
            *end++ = character == 0x2026 ? '~' : '?';
    }
    *end = 0;
}
