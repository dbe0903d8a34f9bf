/*
 * Over TCP on 127.0.0.1; protocol.h has the packets. The socket stays open: its end tells the
 * service that the process ended. The trace's handle stays open, too: it is what makes room on the
 * disk. Neither is inherited by the program's children.
 */
#include "hooks/connection.h"

#include "hooks/memory.h"
#include "hooks/system.h"
#include "hooks/windows/file.h"
#include "hooks/windows/rendezvous.h"
#include "hooks/windows/text.h"
#include "support/windows/ntdll.h"
#include "support/windows/private_file.h"
#include "thunkstash/windows/call_system.h"
#include "trace/trace_format.h"

#define ANSWER_SECONDS 1
#define MOST_PATH      32768
#define LINUX_ROOT     "Z:" /* below which Wine has it */
#define WINSOCK        MAKEWORD(2, 2)

static HANDLE trace_file;
static char *trace_start;
static struct protocol_tcp_hello hello;
static struct protocol_tcp_welcome answer;

/* Waits until the socket can be written to, or read from. */
static bool wait_for(SOCKET socket, bool writing)
{
    struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    fd_set ready = {1, {socket}}, failed = ready;

    return select(0, writing ? NULL : &ready, writing ? &ready : NULL, &failed, &limit) == 1 &&
           ready.fd_count == 1;
}

static SOCKET connect_to(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = (uint16_t)(port << 8 | port >> 8),
                                  .sin_addr.S_un.S_un_b = {127, 0, 0, 1}};
    SOCKET socket = WSASocketW(AF_INET, SOCK_STREAM, IPPROTO_TCP, NULL, 0,
                               WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    u_long not_blocking = 1;

    if (socket == INVALID_SOCKET)
        return socket;
    if (ioctlsocket(socket, (long)FIONBIO, &not_blocking) == 0 &&
        (connect(socket, (const void *)&address, sizeof(address)) == 0 ||
         WSAGetLastError() == WSAEWOULDBLOCK) &&
        wait_for(socket, true))
        return socket;
    closesocket(socket);
    return INVALID_SOCKET;
}

static bool send_all(SOCKET socket, const char *bytes, int size)
{
    for (int at = 0, count; at < size; at += count) {
        count = wait_for(socket, true) ? send(socket, bytes + at, size - at, 0) : -1;
        if (count <= 0)
            return false;
    }
    return true;
}

static bool receive_all(SOCKET socket, char *bytes, int size)
{
    for (int at = 0, count; at < size; at += count) {
        count = wait_for(socket, false) ? recv(socket, bytes + at, size - at, 0) : -1;
        if (count <= 0)
            return false;
    }
    return true;
}

/* Who does not show the proof learns nothing but a secret that is of no use. */
static bool exchange(SOCKET socket, const uint8_t proof[PROTOCOL_SECRET_SIZE])
{
    int opening = PROTOCOL_TCP_OPENING;
    char shown[PROTOCOL_SECRET_SIZE];

    return send_all(socket, (char *)&hello, opening) && receive_all(socket, shown, sizeof(shown)) &&
           !memcmp(shown, proof, sizeof(shown)) &&
           send_all(socket, (char *)&hello + opening, (int)sizeof(hello) - opening) &&
           receive_all(socket, (char *)&answer, sizeof(answer));
}

static bool welcome_is_sound(const struct protocol_tcp_welcome *tcp)
{
    const struct protocol_welcome *welcome = &tcp->welcome;

    return welcome->magic == PROTOCOL_MAGIC && welcome->version == PROTOCOL_VERSION &&
           welcome->kind == PROTOCOL_WELCOME && welcome->capacity >= 2 * TRACE_HEADER_SIZE &&
           welcome->capacity / TRACE_UNIT <= UINT32_MAX && !tcp->path[sizeof(tcp->path) - 1];
}

static bool introduce(const struct rendezvous *at, void *with)
{
    SOCKET socket = connect_to(at->port);

    (void)with;
    if (socket == INVALID_SOCKET)
        return false;
    memcpy(hello.secret, at->secret, sizeof(hello.secret));
    if (exchange(socket, at->proof) && welcome_is_sound(&answer))
        return true;
    closesocket(socket);
    return false;
}

static uint32_t parent_pid(void)
{
    PROCESS_BASIC_INFORMATION information;

    if (!NT_SUCCESS(NtQueryInformationProcess(THIS_PROCESS, ProcessBasicInformation, &information,
                                              sizeof(information), NULL)))
        return 0;
    return (uint32_t)(uintptr_t)information.InheritedFromUniqueProcessId;
}

static size_t wide_length(const wchar_t *text)
{
    size_t length = 0;

    while (text[length])
        length++;
    return length;
}

static void fill_hello(uint32_t fork_of_pid)
{
    static wchar_t exe[MOST_PATH];
    const wchar_t *command = GetCommandLineW();

    hello.hello = (struct protocol_hello){.magic = PROTOCOL_MAGIC,
                                          .version = PROTOCOL_VERSION,
                                          .kind = PROTOCOL_HELLO,
                                          .pid = system_process_id(),
                                          .fork_of_pid = fork_of_pid};
    hello.ppid = parent_pid();
    text_from_wide(hello.exe, sizeof(hello.exe), exe, GetModuleFileNameW(NULL, exe, MOST_PATH));
    text_from_wide(hello.command, sizeof(hello.command), command, wide_length(command));
}

static bool open_trace(void)
{
    static char path[sizeof(LINUX_ROOT) + PROTOCOL_TCP_PATH];
    size_t length = 0;

    if (answer.system == TRACE_SYSTEM_LINUX) {
        text_copy(path, sizeof(path), LINUX_ROOT);
        length = sizeof(LINUX_ROOT) - 1;
    }
    text_copy(path + length, sizeof(path) - length, answer.path);
    trace_file = file_open(path, GENERIC_READ | GENERIC_WRITE);
    if (trace_file == INVALID_HANDLE_VALUE)
        return false;
    if (private_file(trace_file))
        return true;
    CloseHandle(trace_file);
    return false;
}

/* Maps the trace; where the address space is limited, as much of its front as there is room for. */
static char *map_trace(struct protocol_welcome *welcome)
{
    HANDLE section = CreateFileMappingW(trace_file, NULL, PAGE_READWRITE, 0, 0, NULL);
    uint64_t most = welcome->capacity < CONNECTION_MOST_ADDRESSES ? welcome->capacity
                                                                  : CONNECTION_MOST_ADDRESSES;
    char *trace = NULL;

    for (uint64_t size = most; section && !trace && size >= 16 * TRACE_BLOCK_SIZE; size /= 2) {
        size = size / TRACE_BLOCK_SIZE * TRACE_BLOCK_SIZE;
        trace = MapViewOfFile(section, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, (SIZE_T)size);
        welcome->capacity = size;
    }
    if (section)
        CloseHandle(section);
    return trace;
}

/* The path's directory may be one where others can put another file of the user's there. */
static bool is_new_trace(const struct trace_header *trace)
{
    return !memcmp(trace->magic, TRACE_MAGIC, sizeof(trace->magic)) &&
           trace->state == TRACE_PREPARED;
}

struct connection_maps connection_open(char *const *environment, uint32_t fork_of_pid,
                                       struct protocol_welcome *welcome)
{
    const struct connection_maps none = {0};
    static WSADATA unused;

    (void)environment;
    fill_hello(fork_of_pid);
    if (WSAStartup(WINSOCK, &unused))
        return none;
    if (!rendezvous_each(introduce, NULL)) {
        WSACleanup();
        return none;
    }
    *welcome = answer.welcome;
    if (!open_trace())
        return none;
    trace_start = map_trace(welcome);
    if (trace_start && !is_new_trace((struct trace_header *)trace_start)) {
        UnmapViewOfFile(trace_start);
        trace_start = NULL;
    }
    if (trace_start)
        ((struct trace_header *)trace_start)->system = TRACE_SYSTEM_WINDOWS;
    return (struct connection_maps){.trace = trace_start, .page = trace_start};
}

/* Zeros are written through the file, which finds room or answers with an error. */
bool connection_claim(void *part, uint64_t size, uint32_t in_page)
{
    static const char zeros[TRACE_BLOCK_SIZE];
    LARGE_INTEGER at = {.QuadPart = (char *)part - trace_start};
    IO_STATUS_BLOCK done;

    (void)in_page; /* all of it is written */
    for (uint64_t end = (uint64_t)at.QuadPart + size; (uint64_t)at.QuadPart < end;
         at.QuadPart += sizeof(zeros))
        if (!NT_SUCCESS(CALL_SYSTEM(
                NtWriteFile(trace_file, NULL, NULL, NULL, &done, zeros, sizeof(zeros), &at, NULL))))
            return false;
    return true;
}

bool connection_claim_apart(void *part, uint64_t size, uint32_t at)
{
    return connection_claim(part, size, at);
}

void connection_forget(const void *pages, uint64_t size)
{
    (void)pages;
    (void)size;
}
