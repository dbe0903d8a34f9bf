/* What the service makes of packets and of pieces of a hello over TCP, before it acts on them. */
#include "tests/fuzz/protocol_fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "service/server/answers.h"
#include "service/server/packet_check.h"
#include "service/server/tcp_hello.h"
#include "support/utf8.h"
#include "tests/fuzz/harness.h"

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* What is beyond the packet's room was never received. */
static void judge_packet(const uint8_t *data, size_t size)
{
    union packet packet = {0};
    struct failure failure = {""};

    memcpy(&packet, data, size < sizeof(packet) ? size : sizeof(packet));
    switch (packet_check(&packet, size, &failure)) {
    case PACKET_HELLO:
        must(size == sizeof(struct protocol_hello) && packet.start.kind == PROTOCOL_HELLO);
        break;
    case PACKET_COMMAND:
        must(answer_find(packet.start.kind));
        must(answer_find(packet.start.kind)->is_of_change
                 ? size == PROTOCOL_CHANGE_SIZE(packet.change.count) && size <= sizeof(packet)
                 : size == sizeof(struct protocol_command));
        break;
    case PACKET_WRONG:
        check_refusal(failure.text);
        return;
    }
    must(packet.start.magic == PROTOCOL_MAGIC && packet.start.version == PROTOCOL_VERSION);
}

static bool knows_the_secret(const struct protocol_tcp_hello *hello)
{
    return !memcmp(hello->secret, FUZZ_SECRET, PROTOCOL_SECRET_SIZE);
}

static void check_whole(const struct protocol_tcp_hello *hello, size_t have)
{
    uint32_t kind = hello->hello.kind;

    must(have == sizeof(*hello) && knows_the_secret(hello));
    must(hello->hello.magic == PROTOCOL_MAGIC && hello->hello.version == PROTOCOL_VERSION);
    must(kind == PROTOCOL_HELLO || (answer_find(kind) && !answer_find(kind)->has_descriptor &&
                                    !answer_find(kind)->is_of_change));
    must(memchr(hello->exe, 0, sizeof(hello->exe)) && utf8_is_plain(hello->exe));
    must(memchr(hello->command, 0, sizeof(hello->command)) && utf8_is_plain(hello->command));
}

/* Whoever does not know the secret gets no answer; nobody is waited for once all is there. */
static void check_state(enum tcp_hello_state state, const struct protocol_tcp_hello *hello,
                        size_t have)
{
    switch (state) {
    case TCP_HELLO_MORE:
        must(have < sizeof(*hello));
        break;
    case TCP_HELLO_WHOLE:
        check_whole(hello, have);
        break;
    case TCP_HELLO_NOT_OURS:
        must(hello->hello.magic != PROTOCOL_MAGIC);
        break;
    case TCP_HELLO_WRONG_SECRET:
        must(!knows_the_secret(hello));
        break;
    case TCP_HELLO_TOO_LONG:
        must(have > sizeof(*hello) && knows_the_secret(hello));
        break;
    case TCP_HELLO_OTHER_VERSION:
    case TCP_HELLO_MALFORMED:
        must(knows_the_secret(hello));
        break;
    }
}

/* A client as client.h has it, in memory of its own: a sanitizer sees what is read past its end. */
static void judge_pieces(const uint8_t *data, size_t size, size_t piece)
{
    size_t room = sizeof(struct protocol_tcp_hello) + 1, have = 0;
    struct protocol_tcp_hello *hello = calloc(1, room);
    enum tcp_hello_state state = TCP_HELLO_MORE;

    while (hello && size && state == TCP_HELLO_MORE) {
        size_t part = size < piece ? size : piece;
        part = part < room - have ? part : room - have;
        memcpy((uint8_t *)hello + have, data, part);
        have += part;
        data += part;
        size -= part;
        state = tcp_hello_check(hello, have, (const uint8_t *)FUZZ_SECRET);
        check_state(state, hello, have);
    }
    free(hello);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < FUZZ_START)
        return 0;
    if (data[0] == FUZZ_BY_PACKET)
        judge_packet(data + FUZZ_START, size - FUZZ_START);
    else
        judge_pieces(data + FUZZ_START, size - FUZZ_START, (size_t)data[1] * 16 + 1);
    return 0;
}
