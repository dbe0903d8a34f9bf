/*
 * Windows calls a handler in a thread of its own. What it has to say goes through a pair of
 * connected sockets, so that the event loop need wait for sockets only:
 *
 *      thread of Ctrl-C, of the command's end  --a letter-->  signals->fd
 */
#include "service/launch/signals.h"

#include <winsock2.h>
#include <windows.h>
#include <errno.h>

#include "service/base/tcp.h"
#include "service/launch/windows/child_ended.h"

enum letter { LETTER_KEY = 'k', LETTER_END = 'e', LETTER_CHILD = 'c' };

static int writer = -1;

static void tell(enum letter letter)
{
    char byte = (char)letter;

    tcp_send(writer, &byte, 1);
}

void signals_child_ended(void)
{
    tell(LETTER_CHILD);
}

/* When a console is closed or the user logs off, Windows ends the process as soon as this returns,
 * or after some seconds: until then traces are completed. */
static BOOL WINAPI handle_control(DWORD event)
{
    bool key = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;

    tell(key ? LETTER_KEY : LETTER_END);
    if (!key)
        Sleep(INFINITE);
    return TRUE;
}

static uint16_t port_of(int socket, int(WINAPI *name)(SOCKET, struct sockaddr *, int *))
{
    struct sockaddr_in address = {0};
    int size = sizeof(address);

    return name((SOCKET)socket, (struct sockaddr *)&address, &size) ? 0 : address.sin_port;
}

/* Anybody could connect in between: who was accepted must be our own writer. */
static bool open_pair(int *reader)
{
    uint16_t port;
    int listener = tcp_listen(&port);

    if (listener < 0)
        return false;
    writer = tcp_connect(port, 0);
    while (writer >= 0 && (*reader = tcp_accept(listener)) >= 0 &&
           port_of(*reader, getpeername) != port_of(writer, getsockname))
        tcp_close(*reader);
    tcp_close(listener);
    return writer >= 0 && *reader >= 0;
}

bool signals_open(struct signals *signals)
{
    signals->fd = -1;
    return tcp_begin() && open_pair(&signals->fd) && SetConsoleCtrlHandler(handle_control, TRUE);
}

void signals_close(struct signals *signals)
{
    SetConsoleCtrlHandler(handle_control, FALSE);
    tcp_close(signals->fd);
    tcp_close(writer);
    signals->fd = writer = -1;
}

bool signals_next(struct signals *signals, struct signal_event *event)
{
    char letter;

    if (tcp_receive(signals->fd, &letter, 1) != 1)
        return false;
    *event = (struct signal_event){
        .number = letter == LETTER_KEY ? SIGINT : SIGTERM,
        .child_ended = letter == LETTER_CHILD,
        .from_terminal = letter == LETTER_KEY,
    };
    return true;
}
