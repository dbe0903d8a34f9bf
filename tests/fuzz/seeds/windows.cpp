// A DLL of each of the two kinds of compilers for Windows: see rebuild.
namespace outer
{
struct inner {
    int value;
    inner(int n);
    int method(int n);
    int operator+(int n);
};

__attribute__((noinline)) inner::inner(int n) : value(n)
{
}

__attribute__((noinline)) int inner::method(int n)
{
    return value += n;
}

__attribute__((noinline)) int inner::operator+(int n)
{
    return value * n;
}
} // namespace outer

static __attribute__((noinline)) int hidden(int n)
{
    return n * 3;
}

template <class T> __attribute__((noinline)) T twice(T n)
{
    return n + n;
}

extern "C" int by_name(int n)
{
    outer::inner i(n);
    return i.method(n) + (i + n) + twice(n);
}

extern "C" int by_ordinal(int n)
{
    return hidden(n) + 1;
}

#ifdef __MINGW32__
extern "C" __declspec(dllimport) void Sleep(unsigned);
#else
static void Sleep(unsigned)
{
}
#endif

extern "C" int DllMainCRTStartup(void *, unsigned, void *)
{
    Sleep(0);
    return by_name(2) + by_ordinal(3);
}
