#include "service/tool/answer.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *answer_text(const struct table *answer, const char *key)
{
    size_t length = strlen(key);

    for (size_t i = 0; i < answer->count; i++) {
        const char *line = answer->lines[i];

        if (!strncmp(line, key, length) && line[length] == '\t')
            return line + length + 1;
    }
    return NULL;
}

uint64_t answer_number(const struct table *answer, const char *key)
{
    const char *text = answer_text(answer, key);

    return text ? strtoull(text, NULL, 10) : 0;
}
