#include "service/server/rendezvous.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "service/base/file.h"

#define START "umbra 2 "

static char *print_secret(char *at, const uint8_t secret[PROTOCOL_SECRET_SIZE])
{
    for (int i = 0; i < PROTOCOL_SECRET_SIZE; i++)
        at += sprintf(at, "%02x", secret[i]);
    return at;
}

size_t rendezvous_print(char text[RENDEZVOUS_TEXT_SIZE], const struct rendezvous *rendezvous)
{
    char *at = text + sprintf(text, START "%u ", rendezvous->port);

    at = print_secret(at, rendezvous->secret);
    *at++ = ' ';
    at = print_secret(at, rendezvous->proof);
    *at++ = '\n';
    *at = 0;
    return (size_t)(at - text);
}

static int hex_value(char digit)
{
    const char *digits = "0123456789abcdef";
    const char *found = digit ? strchr(digits, digit) : NULL;

    return found ? (int)(found - digits) : -1;
}

static bool parse_port(uint16_t *port, const char **text)
{
    unsigned value = 0;
    const char *at = *text;

    for (; *at >= '0' && *at <= '9' && value <= UINT16_MAX; at++)
        value = 10 * value + (unsigned)(*at - '0');
    *text = at;
    *port = (uint16_t)value;
    return value >= 1 && value <= UINT16_MAX;
}

static bool parse_secret(uint8_t secret[PROTOCOL_SECRET_SIZE], const char **text)
{
    for (int i = 0; i < PROTOCOL_SECRET_SIZE; i++, *text += 2) {
        int high = hex_value((*text)[0]);
        int low = high < 0 ? -1 : hex_value((*text)[1]);

        if (low < 0)
            return false;
        secret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool rendezvous_parse(struct rendezvous *rendezvous, const char *text, size_t length)
{
    char line[RENDEZVOUS_TEXT_SIZE] = {0};
    const char *at = line + strlen(START);

    if (length >= sizeof(line))
        return false;
    memcpy(line, text, length);
    return !strncmp(line, START, strlen(START)) && parse_port(&rendezvous->port, &at) &&
           *at++ == ' ' && parse_secret(rendezvous->secret, &at) && *at++ == ' ' &&
           parse_secret(rendezvous->proof, &at) && *at++ == '\n' && at == line + length;
}

bool rendezvous_secret_is(const uint8_t expected[PROTOCOL_SECRET_SIZE],
                          const uint8_t given[PROTOCOL_SECRET_SIZE])
{
    volatile uint8_t difference = 0;

    for (int i = 0; i < PROTOCOL_SECRET_SIZE; i++)
        difference = (uint8_t)(difference | (expected[i] ^ given[i]));
    return !difference;
}

bool rendezvous_write(const char *path, const struct rendezvous *rendezvous)
{
    char text[RENDEZVOUS_TEXT_SIZE];
    size_t length = rendezvous_print(text, rendezvous);

    return file_replace(path, text, length);
}

bool rendezvous_read(const char *path, struct rendezvous *rendezvous)
{
    char text[RENDEZVOUS_TEXT_SIZE];
    ssize_t length = file_read_own(path, text, sizeof(text));

    if (length < 0)
        return false;
    errno = EPROTO;
    return rendezvous_parse(rendezvous, text, (size_t)length);
}
