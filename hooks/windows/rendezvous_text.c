#include "hooks/windows/rendezvous_text.h"

#include "hooks/memory.h"

#define VERSION_START "umbra 2 "
#define USER_START    "\nUid:\t"

/* Behind `start`; null if the text does not begin with it. */
static const char *skip(const char *text, const char *start)
{
    while (*start && *text == *start)
        text++, start++;
    return *start ? NULL : text;
}

/* What is behind it; null if it is none of 32 bits. */
static const char *parse_number(const char *text, uint32_t *number)
{
    const char *start = text;
    uint64_t value = 0;

    for (; *text >= '0' && *text <= '9' && value <= UINT32_MAX; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    *number = (uint32_t)value;
    return text != start && value <= UINT32_MAX ? text : NULL;
}

static int hexadecimal(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* What is behind it; null if it is none. */
static const char *parse_secret(const char *text, uint8_t secret[PROTOCOL_SECRET_SIZE])
{
    for (int i = 0; i < PROTOCOL_SECRET_SIZE; i++, text += 2) {
        int high = hexadecimal(text[0]), low = high < 0 ? -1 : hexadecimal(text[1]);

        if (low < 0)
            return NULL;
        secret[i] = (uint8_t)(high << 4 | low);
    }
    return text;
}

bool rendezvous_parse(const char *text, struct rendezvous *at)
{
    uint32_t port;

    text = skip(text, VERSION_START);
    text = text ? parse_number(text, &port) : NULL;
    if (!text || !port || port > UINT16_MAX || *text++ != ' ')
        return false;
    at->port = (uint16_t)port;
    text = parse_secret(text, at->secret);
    if (!text || *text++ != ' ')
        return false;
    text = parse_secret(text, at->proof);
    return text && *text == '\n';
}

bool rendezvous_user(const char *status, uint32_t *uid)
{
    for (; *status; status++) {
        const char *number = skip(status, USER_START);

        if (number)
            return parse_number(number, uid) != NULL;
    }
    return false;
}
