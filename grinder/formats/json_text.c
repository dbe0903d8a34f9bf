#include "grinder/formats/json_text.h"

#include "support/utf8.h"

void json_write_text(FILE *stream, const char *key, const char *text)
{
    fprintf(stream, "\"%s\":", key);
    if (text)
        utf8_write_json(stream, text);
    else
        fputs("null", stream);
}
