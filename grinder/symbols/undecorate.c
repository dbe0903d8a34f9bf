/*
 *      symbol    ?  name  scope @ … @  type …         innermost scope first, ended by an empty one
 *      name      text @  |  ?0  |  ?1  |  ?H …        a constructor, a destructor, an operator
 *      scope     text @  |  0 … 9                     a text that was there before, by its place
 *
 * Source: Agner Fog, "Calling conventions for different C++ compilers", chapter 8.
 */
#include "grinder/symbols/undecorate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARTS 32
#define MAX_NAME  4096

struct part {
    const char *text;
    int length;
};

struct name {
    struct part parts[MAX_PARTS]; /* innermost first */
    int count;
    struct part seen[10];
    int seen_count;
    const char *operator; /* null if parts[0] is the name */
    int is_destructor;
};

static const struct {
    const char *code, *text;
} operators[] = {
    {"2", "operator new"},
    {"3", "operator delete"},
    {"4", "operator="},
    {"5", "operator>>"},
    {"6", "operator<<"},
    {"7", "operator!"},
    {"8", "operator=="},
    {"9", "operator!="},
    {"A", "operator[]"},
    {"C", "operator->"},
    {"D", "operator*"},
    {"E", "operator++"},
    {"F", "operator--"},
    {"G", "operator-"},
    {"H", "operator+"},
    {"I", "operator&"},
    {"J", "operator->*"},
    {"K", "operator/"},
    {"L", "operator%"},
    {"M", "operator<"},
    {"N", "operator<="},
    {"O", "operator>"},
    {"P", "operator>="},
    {"Q", "operator,"},
    {"R", "operator()"},
    {"S", "operator~"},
    {"T", "operator^"},
    {"U", "operator|"},
    {"V", "operator&&"},
    {"W", "operator||"},
    {"X", "operator*="},
    {"Y", "operator+="},
    {"Z", "operator-="},
    {"_0", "operator/="},
    {"_1", "operator%="},
    {"_2", "operator>>="},
    {"_3", "operator<<="},
    {"_4", "operator&="},
    {"_5", "operator|="},
    {"_6", "operator^="},
    {"_U", "operator new[]"},
    {"_V", "operator delete[]"},
    {"_E", "`vector deleting dtor'"},
    {"_G", "`scalar deleting dtor'"},
};

/* A plain text up to its '@', or a digit; null at anything else. */
static const char *take_part(struct name *name, const char *at)
{
    struct part part = {at, 0};

    if (name->count == MAX_PARTS)
        return NULL;
    if (*at >= '0' && *at <= '9') {
        unsigned number = (unsigned)(*at - '0');

        if (number >= (unsigned)name->seen_count)
            return NULL;
        name->parts[name->count++] = name->seen[number];
        return at + 1;
    }
    part.length = (int)strcspn(at, "@?");
    if (!part.length || at[part.length] != '@')
        return NULL;
    name->parts[name->count++] = part;
    if (name->seen_count < 10)
        name->seen[name->seen_count++] = part;
    return at + part.length + 1;
}

/* What follows the second '?'. */
static const char *take_special(struct name *name, const char *at)
{
    if (*at == '0' || *at == '1') {
        name->is_destructor = *at == '1';
        name->operator= "";
        return at + 1;
    }
    for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
        size_t length = strlen(operators[i].code);
        if (strncmp(at, operators[i].code, length) != 0)
            continue;
        name->operator= operators[i].text;
        return at + length;
    }
    return NULL;
}

static char *write_name(const struct name *name)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    for (int i = name->count - 1; i >= 0; i--)
        fprintf(stream, "%.*s%s", name->parts[i].length, name->parts[i].text, i ? "::" : "");
    if (name->operator&& * name->operator)
        fprintf(stream, "%s%s", name->count ? "::" : "", name->operator);
    else if (name->operator)
        fprintf(stream, "::%s%.*s", name->is_destructor ? "~" : "", name->parts[0].length,
                name->parts[0].text);
    if (fclose(stream) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

char *undecorate(const char *symbol)
{
    struct name name = {.count = 0};
    const char *at = symbol + 1;

    if (*symbol != '?' || strlen(symbol) > MAX_NAME)
        return NULL;
    at = *at == '?' ? take_special(&name, at + 1) : take_part(&name, at);
    while (at && *at && *at != '@')
        at = take_part(&name, at);
    if (!at || *at != '@' || (name.operator&& !* name.operator&& !name.count))
        return NULL;
    return write_name(&name);
}
