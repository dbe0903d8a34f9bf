/*
 * Like tests/programs/counted.c, counts its own calls in a file, in three threads, until it is
 * ended:  counted FILE [HOW]
 *
 * HOW is the end it makes for itself after 20,000 rounds of the first thread, if it is to:
 * terminate, ExitProcess. As a launcher, it ends another such program by TerminateProcess,
 * MICROSECONDS after it has begun to count:  counted FILE end-after MICROSECONDS
 */
#include "counted_calls.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define ROUNDS 20000

static volatile struct counted_thread *counted;
static const char *how;

COUNTED static void end(void)
{
    if (!strcmp(how, "terminate"))
        TerminateProcess(GetCurrentProcess(), 3);
    if (!strcmp(how, "ExitProcess"))
        ExitProcess(3);
}

COUNTED static DWORD WINAPI work(void *own)
{
    struct counted_thread *self = own;

    __atomic_store_n(&self->tid, (uint64_t)GetCurrentThreadId(), __ATOMIC_SEQ_CST);
    for (uint64_t i = 0;; i++) {
        CALL(self, deeper(self, (int)(i % 7)));
        if (how && self == counted && i == ROUNDS)
            CALL(self, end());
    }
    return 0;
}

static void *map(const char *path)
{
    HANDLE file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE,
                              FILE_SHARE_READ | FILE_SHARE_WRITE, 0, OPEN_EXISTING, 0, 0);
    HANDLE mapping = CreateFileMappingA(file, 0, PAGE_READWRITE, 0, 4096, 0);
    void *view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 4096);

    REQUIRE(view != NULL);
    return view;
}

static void wait_us(long us)
{
    LARGE_INTEGER begin, now, frequency;

    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&begin);
    do
        QueryPerformanceCounter(&now);
    while ((now.QuadPart - begin.QuadPart) * 1000000 / frequency.QuadPart < us);
}

static void end_another(char **arguments)
{
    STARTUPINFOA start = {.cb = sizeof(start)};
    PROCESS_INFORMATION process;
    char command[MAX_PATH * 2];

    snprintf(command, sizeof(command), "counted.exe %s", arguments[1]);
    REQUIRE(CreateProcessA(0, command, 0, 0, FALSE, 0, 0, 0, &start, &process));
    while (counted[0].begun < 2)
        Sleep(1);
    wait_us(atol(arguments[3]));
    REQUIRE(TerminateProcess(process.hProcess, 9));
    WaitForSingleObject(process.hProcess, INFINITE);
}

int main(int count, char **arguments)
{
    REQUIRE(count >= 2);
    counted = map(arguments[1]);
    if (count == 4) {
        end_another(arguments);
        return 0;
    }
    how = arguments[2];
    for (int i = 1; i < COUNTED_THREADS; i++)
        REQUIRE(CreateThread(0, 0, work, (void *)(counted + i), 0, 0));
    work((void *)counted);
}
