// Functions whose names and lines are known: a line that says "entry of NAME" has NAME's entry.
namespace outer
{
struct inner {
    int value;
    int method(int n);
};

__attribute__((noinline)) int inner::method(int n)
{ // entry of outer::inner::method
    return value += n;
}
} // namespace outer

static __attribute__((noinline)) int hidden(int n)
{ // entry of hidden
    return n * 3;
}

extern "C" __attribute__((noinline, dllexport)) int visible(int n)
{ // entry of visible
    outer::inner i = {n};

    return i.method(n) + hidden(n);
}

#ifdef __MINGW32__
extern "C" __declspec(dllimport) void Sleep(unsigned);
#else
static void Sleep(unsigned)
{
}
#endif

extern "C" int start()
{ // entry of start
    Sleep(0);
    return visible(2) + 1;
}
