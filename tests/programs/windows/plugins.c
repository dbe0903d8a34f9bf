/*
 * A library that is loaded, called by name and freed again and again, by several threads at once;
 * another lies in its place for a while, so that it comes back elsewhere.
 */
#include <stdio.h>
#include <windows.h>

#define COUNTED __attribute__((noinline))
#define THREADS 3
#define ROUNDS  50

typedef int function(int);

static function *exported(HMODULE library, const char *name)
{
    return (function *)(void *)GetProcAddress(library, name);
}

COUNTED static int call_both(HMODULE library, int number)
{
    int sum = exported(library, "leaf")(number);

    return sum + exported(library, "counted")(number) * 0;
}

/* Takes the addresses where the library was. */
COUNTED static int elsewhere(int number)
{
    HMODULE library = LoadLibraryA("library.dll"), again;
    void *in_the_way;
    int result;

    if (!library)
        return -1;
    result = call_both(library, number);
    FreeLibrary(library);
    in_the_way = VirtualAlloc(library, 4096, MEM_RESERVE, PAGE_NOACCESS);
    again = LoadLibraryA("library.dll");
    if (!again)
        return -1;
    result += call_both(again, number);
    FreeLibrary(again);
    if (in_the_way)
        VirtualFree(in_the_way, 0, MEM_RELEASE);
    return result;
}

static DWORD WINAPI rounds(void *unused)
{
    int sum = 0;

    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        HMODULE library = LoadLibraryA("library.dll");

        if (!library)
            return 1;
        sum += call_both(library, i);
        FreeLibrary(library);
    }
    return (DWORD)sum;
}

int main(void)
{
    HANDLE threads[THREADS];
    DWORD sum;

    for (int i = 0; i < 10; i++)
        printf("%d\n", elsewhere(i));
    for (int i = 0; i < THREADS; i++)
        threads[i] = CreateThread(0, 0, rounds, 0, 0, 0);
    for (int i = 0; i < THREADS; i++) {
        WaitForSingleObject(threads[i], INFINITE);
        GetExitCodeThread(threads[i], &sum);
        printf("%lu\n", sum);
    }
    fflush(stdout);
    return 6;
}
