#include "service/server/tcp_hello.h"

#include <string.h>

#include "service/server/answers.h"
#include "service/server/rendezvous.h"
#include "support/utf8.h"

static enum tcp_hello_state check_contents(struct protocol_tcp_hello *hello)
{
    const struct answer *answer = answer_find(hello->hello.kind);

    if (hello->hello.kind != PROTOCOL_HELLO &&
        (!answer || answer->has_descriptor || answer->is_of_change))
        return TCP_HELLO_MALFORMED;
    if (!memchr(hello->exe, 0, sizeof(hello->exe)) ||
        !memchr(hello->command, 0, sizeof(hello->command)))
        return TCP_HELLO_MALFORMED;
    utf8_sanitise(hello->exe);
    utf8_sanitise(hello->command);
    return TCP_HELLO_WHOLE;
}

bool tcp_hello_shows_secret(enum tcp_hello_state state, size_t have)
{
    return have >= PROTOCOL_TCP_OPENING && state != TCP_HELLO_NOT_OURS &&
           state != TCP_HELLO_WRONG_SECRET;
}

enum tcp_hello_state tcp_hello_check(struct protocol_tcp_hello *hello, size_t have,
                                     const uint8_t secret[PROTOCOL_SECRET_SIZE])
{
    if (have >= sizeof(hello->hello.magic) && hello->hello.magic != PROTOCOL_MAGIC)
        return TCP_HELLO_NOT_OURS;
    if (have < PROTOCOL_TCP_OPENING)
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
