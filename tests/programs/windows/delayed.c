/*
 * A program without any C library, as clang and lld make it for Microsoft's ABI: the imports from
 * library.dll are delayed, in the directory that is made for them, and the helper that binds them
 * is its own. Two threads call them. Of its leaves without a frame, which .pdata leaves out, one is
 * called and one is exported.
 */
typedef unsigned long dword;
typedef void *handle;

/* ImgDelayDescr: all are RVAs. */
struct delayed_library {
    dword attributes, name, module, slots, names, bound, unload, time;
};

__declspec(dllimport) handle LoadLibraryA(const char *);
__declspec(dllimport) void *GetProcAddress(handle, const char *);
__declspec(dllimport) handle GetStdHandle(dword);
__declspec(dllimport) int WriteFile(handle, const void *, dword, dword *, void *);
__declspec(dllimport) handle
    CreateThread(void *, __SIZE_TYPE__, dword (*)(void *), void *, dword, dword *);
__declspec(dllimport) dword WaitForSingleObject(handle, dword);
__declspec(dllimport) __declspec(noreturn) void ExitProcess(dword);

extern const char __ImageBase[];

/* Functions of library.dll. */
int leaf(int number);
int counted(int number);

void *__delayLoadHelper2(const struct delayed_library *library, void **slot)
{
    void **slots = (void **)(__ImageBase + library->slots);
    const unsigned long long *names = (const unsigned long long *)(__ImageBase + library->names);
    handle module = LoadLibraryA(__ImageBase + library->name);

    *slot = GetProcAddress(module, __ImageBase + names[slot - slots] + 2);
    return *slot;
}

__attribute__((noinline)) static int half(int number)
{
    return number / 2 + 1;
}

__declspec(dllexport) __attribute__((noinline)) int twice(int number)
{
    return number * 2 + 1;
}

static int (*volatile by_address)(int) = twice;

__attribute__((noinline)) static int leaves(int number)
{
    for (int i = 0; i < 7; i++)
        number += half(number);
    for (int i = 0; i < 9; i++)
        number -= by_address(i);
    return number;
}

__attribute__((noinline)) static int sum_of(int count)
{
    int sum = 0;

    for (int i = 0; i < count; i++)
        sum += leaf(i);
    return sum;
}

static dword in_thread(void *unused)
{
    (void)unused;
    return (dword)(sum_of(40) + counted(3));
}

__attribute__((noinline)) static void print(int number)
{
    char text[12];
    dword length = 0, done;

    text[11] = '\n';
    for (length = 1; number; number /= 10)
        text[11 - length++] = (char)('0' + number % 10);
    WriteFile(GetStdHandle((dword)-11), text + 12 - length, length, &done, 0);
}

void start(void)
{
    handle thread;

    print(sum_of(20));
    thread = CreateThread(0, 0, in_thread, 0, 0, 0);
    WaitForSingleObject(thread, (dword)-1);
    print(counted(1));
    print(leaves(100));
    ExitProcess(9);
}
