/*
 * Called from code that a code generator made, at build time and at run time, C finds its way
 * through that code's frames by their return addresses, as V8 does. With RESOLVER it asks where
 * these lie, if it was told whom, by the function that V8 exports for that.
 */
#include "program.h"

#include <string.h>
#ifdef _WIN32
#define NOGDI /* it has an OPAQUE of its own */
#include <windows.h>
#define BELOW_FRAME 4 /* words: room for arguments */
#else
#include <sys/mman.h>
#define BELOW_FRAME 0
#endif

#define ROUNDS 1000

extern char generated_start[], generated_inner_return[], generated_outer_return[], generated_end[];
long generated(long (*function)(long), long argument, void ***exit_frame);

static void **exit_frame;
static char *code; /* generated_start, or the copy made at run time */

#ifdef RESOLVER
static size_t (*resolver)(size_t location);

#ifdef _WIN32 /* its name is given where it is linked */
void set_resolver(size_t (*function)(size_t));
#else
__attribute__((visibility("default"))) void set_resolver(size_t (*function)(size_t)) __asm__(
    "_ZN2v82V832SetReturnAddressLocationResolverEPFmmE");
#endif

void set_resolver(size_t (*function)(size_t))
{
    resolver = function;
}

static void *return_address(void **location)
{
    return resolver ? *(void **)resolver((size_t)location) : *location;
}
#else
static void *return_address(void **location)
{
    return *location;
}
#endif

static void require_frames(void)
{
    REQUIRE(return_address(&exit_frame[-1]) == code + (generated_inner_return - generated_start));
    REQUIRE(return_address(&exit_frame[BELOW_FRAME + 1]) ==
            code + (generated_outer_return - generated_start));
}

COUNTED long below(long n)
{
    require_frames();
    return n + 1;
}

COUNTED long callee(long n)
{
    require_frames();
    n = below(n);
    OPAQUE(n);
    return n + 1;
}

static long run(long n)
{
    long (*entry)(long (*)(long), long, void ***) =
        (void *)(code + ((char *)generated - generated_start));

    for (long i = 0; i < ROUNDS; i++)
        n = entry(callee, n, &exit_frame);
    return n;
}

/* Copies the code to memory that is made at run time. */
static char *copied(size_t size)
{
#ifdef _WIN32
    char *copy = VirtualAlloc(0, size, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
    DWORD before;

    REQUIRE(copy);
    memcpy(copy, generated_start, size);
    REQUIRE(VirtualProtect(copy, size, PAGE_EXECUTE_READ, &before));
#else
    char *copy = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    REQUIRE(copy != MAP_FAILED);
    memcpy(copy, generated_start, size);
    REQUIRE(mprotect(copy, size, PROT_READ | PROT_EXEC) == 0);
#endif
    return copy;
}

int main(void)
{
    char *copy = copied((size_t)(generated_end - generated_start));
    long n;

    code = generated_start;
    n = run(0);
    code = copy;
    printf("%ld\n", run(n));
    return 0;
}
