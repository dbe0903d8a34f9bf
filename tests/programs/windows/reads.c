/*
 * What threads do in libraries that are not instrumented: one writes a file by WriteFile, then
 * another one reads it by ReadFile; both open it by CreateFileW. The third calls a library that is
 * loaded with the first call.
 */
#include <stdio.h>
#include <windows.h>

#define COUNTED __attribute__((noinline))
#define WRITES  30
#define READS   70

int leaf(int number); /* library.c */

COUNTED static HANDLE file_open(DWORD access, DWORD how)
{
    return CreateFileW(L"reads.data", access, 0, 0, how, FILE_ATTRIBUTE_NORMAL, 0);
}

COUNTED static DWORD write_once(HANDLE file)
{
    DWORD done;

    WriteFile(file, "0123456789", 10, &done, 0);
    return done;
}

COUNTED static DWORD read_once(HANDLE file)
{
    char text[4];
    DWORD done;

    ReadFile(file, text, sizeof(text), &done, 0);
    return done;
}

static DWORD WINAPI writer(void *unused)
{
    HANDLE file = file_open(GENERIC_WRITE, CREATE_ALWAYS);
    DWORD sum = 0;

    (void)unused;
    for (int i = 0; i < WRITES; i++)
        sum += write_once(file);
    CloseHandle(file);
    return sum;
}

static DWORD WINAPI reader(void *unused)
{
    HANDLE file = file_open(GENERIC_READ, OPEN_EXISTING);
    DWORD sum = 0;

    (void)unused;
    for (int i = 0; i < READS; i++)
        sum += read_once(file);
    CloseHandle(file);
    DeleteFileW(L"reads.data");
    return sum;
}

static DWORD WINAPI delayed(void *unused)
{
    DWORD sum = 0;

    (void)unused;
    for (int i = 0; i < 5; i++)
        sum += (DWORD)leaf(i);
    SetLastError(1234);
    sum += (DWORD)leaf(5);
    return sum + (GetLastError() == 1234);
}

static DWORD in_thread(LPTHREAD_START_ROUTINE start)
{
    HANDLE thread = CreateThread(0, 0, start, 0, 0, 0);
    DWORD result = 0;

    WaitForSingleObject(thread, INFINITE);
    GetExitCodeThread(thread, &result);
    CloseHandle(thread);
    return result;
}

int main(void)
{
    printf("written %lu\n", in_thread(writer));
    printf("read %lu\n", in_thread(reader));
    printf("delayed %lu\n", in_thread(delayed));
    fflush(stdout);
    return 5;
}
