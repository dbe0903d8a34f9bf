#include "service/tcp_hello.h"

#include <string.h>

#include "service/rendezvous.h"
#include "service/utf8.h"

/* Hello and secret stand there in all versions. */
#define ENOUGH_TO_TRUST offsetof(struct protocol_tcp_hello, ppid)

static enum tcp_hello_state check_contents(struct protocol_tcp_hello *hello)
{
    uint32_t kind = hello->hello.kind;

    if (kind != PROTOCOL_HELLO &&
        (kind < PROTOCOL_COMMAND_STATUS || kind > PROTOCOL_COMMAND_RESUME))
        return TCP_HELLO_MALFORMED;
    if (!memchr(hello->exe, 0, sizeof(hello->exe)) ||
        !memchr(hello->command, 0, sizeof(hello->command)))
        return TCP_HELLO_MALFORMED;
    utf8_sanitise(hello->exe);
    utf8_sanitise(hello->command);
    return TCP_HELLO_WHOLE;
}

enum tcp_hello_state tcp_hello_check(struct protocol_tcp_hello *hello, size_t have,
                                     const uint8_t secret[PROTOCOL_SECRET_SIZE])
{
    if (have >= sizeof(hello->hello.magic) && hello->hello.magic != PROTOCOL_MAGIC)
        return TCP_HELLO_NOT_OURS;
    if (have < ENOUGH_TO_TRUST)
        return TCP_HELLO_MORE;
    if (!rendezvous_secret_is(secret, hello->secret))
        return TCP_HELLO_WRONG_SECRET;
    if (hello->hello.version != PROTOCOL_VERSION)
        return TCP_HELLO_OTHER_VERSION;
    if (have < sizeof(*hello))
        return TCP_HELLO_MORE;
    if (have > sizeof(*hello))
        return TCP_HELLO_TOO_LONG;
    return check_contents(hello);
}
