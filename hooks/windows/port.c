#include "hooks/windows/port.h"

#include "hooks/memory.h"
#include "hooks/windows/file.h"

#define TABLE_SIZE 65536 /* a line is 150 bytes, and those who listen come first */

/*
 *        sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  …
 *         0: 0100007F:9CBB 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000  …
 */
#define LISTENER_START " 0100007F:"
#define LISTENER_END   " 00000000:0000 0A "
#define SKIPPED        3 /* fields between that and the user */

static char table[TABLE_SIZE];

static bool begins_with(const char *text, const char *start)
{
    while (*start && *text == *start)
        text++, start++;
    return !*start;
}

/* Behind `0A `; null if nobody listens there. */
static const char *find_listener(uint16_t port)
{
    static const char digits[] = "0123456789ABCDEF";
    char wanted[] = LISTENER_START "0000" LISTENER_END;

    for (int i = 0; i < 4; i++)
        wanted[sizeof(LISTENER_START) - 1 + i] = digits[port >> (12 - 4 * i) & 15];
    for (const char *at = table; *at; at++)
        if (begins_with(at, wanted))
            return at + sizeof(wanted) - 1;
    return NULL;
}

/* False if the table ends before the number does. */
static bool parse_user(const char *at, uint32_t *user)
{
    for (int i = 0; i < SKIPPED; i++) {
        while (*at && *at != ' ')
            at++;
        while (*at == ' ')
            at++;
    }
    for (*user = 0; *at >= '0' && *at <= '9'; at++)
        *user = *user * 10 + (uint32_t)(*at - '0');
    return *at;
}

bool port_may_be_of(uint16_t port, uint32_t uid)
{
    const char *listener;
    uint32_t user;

    if (!file_read("Z:\\proc\\net\\tcp", table, sizeof(table)))
        return true;
    listener = find_listener(port);
    if (!listener)
        return text_length(table) == sizeof(table) - 1; /* it may be in the rest */
    return !parse_user(listener, &user) || user == uid;
}
