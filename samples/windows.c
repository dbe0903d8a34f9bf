/* A Windows program: a thread makes a file, another one reads it; each of them sums its bytes. */
#include <windows.h>
#include <stdio.h>

#define BLOCKS 2000

__attribute__((noinline)) static unsigned sum(const unsigned char *block, DWORD size)
{
    unsigned sum = 0;

    for (DWORD i = 0; i < size; i++)
        sum = sum * 31 + block[i];
    return sum;
}

static HANDLE open_file(DWORD access, DWORD how, DWORD flags)
{
    return CreateFileW(L"windows.data", access, 0, NULL, how, flags, NULL);
}

__attribute__((noinline)) static unsigned write_block(HANDLE file, int number)
{
    unsigned char block[4096];
    DWORD written;

    memset(block, number, sizeof(block));
    WriteFile(file, block, sizeof(block), &written, NULL);
    return sum(block, written);
}

__attribute__((noinline)) static unsigned read_block(HANDLE file)
{
    unsigned char block[4096];
    DWORD read;

    return ReadFile(file, block, sizeof(block), &read, NULL) ? sum(block, read) : 0;
}

static DWORD WINAPI writer(void *total)
{
    HANDLE file = open_file(GENERIC_WRITE, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL);

    for (int i = 0; i < BLOCKS; i++)
        *(unsigned *)total += write_block(file, i);
    return CloseHandle(file);
}

static DWORD WINAPI reader(void *total)
{
    HANDLE file = open_file(GENERIC_READ, OPEN_EXISTING, FILE_FLAG_DELETE_ON_CLOSE);

    for (int i = 0; i < BLOCKS; i++)
        *(unsigned *)total += read_block(file);
    return CloseHandle(file);
}

static void run(LPTHREAD_START_ROUTINE start, unsigned *total)
{
    HANDLE thread = CreateThread(NULL, 0, start, total, 0, NULL);

    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}

int main(void)
{
    unsigned written = 0, read = 0;

    run(writer, &written);
    run(reader, &read);
    printf("written %08x, read %08x\n", written, read);
    return written != read;
}
