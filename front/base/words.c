#include "front/base/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

static void take(struct words *words, char *word)
{
    words->list = memory_grow(words->list, words->count + 1, &words->room, sizeof(*words->list));
    words->list[words->count++] = word;
    words->list[words->count] = NULL;
}

void words_add(struct words *words, const char *word)
{
    take(words, memory_copy_string(word));
}

void words_print(struct words *words, const char *format, ...)
{
    va_list arguments;
    char *word = NULL;
    int length;

    va_start(arguments, format);
    length = vasprintf(&word, format, arguments);
    va_end(arguments);
    take(words, memory_or_exit(length < 0 ? NULL : word, 1));
}

void words_add_all(struct words *words, char *const *list)
{
    for (; list && *list; list++)
        words_add(words, *list);
}

void words_drop(struct words *words, const char *option)
{
    size_t length = strlen(option);
    size_t kept = 0;

    for (size_t i = 0; i < words->count; i++) {
        char *word = words->list[i];
        if (!strncmp(word, option, length) && (!word[length] || word[length] == '='))
            free(word);
        else
            words->list[kept++] = word;
    }
    words->count = kept;
    if (words->list)
        words->list[kept] = NULL;
}

void words_free(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->list[i]);
    free(words->list);
    *words = (struct words){0};
}
