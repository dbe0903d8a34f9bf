/* A Windows program without a C library behind it: TLS with a callback, exports, a handler. */
__declspec(dllimport) void Sleep(unsigned milliseconds);
__declspec(dllimport) void ExitProcess(unsigned status);

unsigned _tls_index;
static char tls_start[16], tls_end;
static int callbacks;

static void on_thread(void *module, unsigned reason, void *reserved)
{
    (void)module, (void)reserved;
    callbacks += (int)reason;
}

static void (*const tls_callbacks[])(void *, unsigned, void *) = {on_thread, 0};

const struct {
    void *start, *end, *index;
    const void *callbacks;
    unsigned fill, flags;
} _tls_used = {tls_start, &tls_end, &_tls_index, tls_callbacks, 0, 0};

int guarded(const int *from);

__asm__(".text; .p2align 4; .globl guarded; .def guarded; .scl 2; .type 32; .endef\n"
        ".seh_proc guarded; .seh_handler handler, @except\n"
        "guarded: sub $40, %rsp; .seh_stackalloc 40; .seh_endprologue\n"
        "1: mov (%rcx), %eax; nop; 2: add $40, %rsp; ret; 3: mov $-1, %eax; jmp 2b\n"
        ".seh_handlerdata; .long 1; .rva 1b, 2b; .long 1; .rva 3b; .text; .seh_endproc");

int handler(void *record, void *frame)
{
    return record == frame;
}

__declspec(dllexport) int looped(int count)
{
    volatile int sum[64] = {0};

    while (count-- > 0)
        sum[count & 63] += guarded((const int *)&count);
    Sleep(0);
    return sum[3];
}

void start(void)
{
    ExitProcess((unsigned)looped(5));
}
