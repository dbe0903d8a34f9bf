/* windows_sample IMAGE OUTPUT TRACE MODULE RVA…: makes IMAGE an instrumented one, OUTPUT, and the
   trace of a process in which each of these functions called the next one, from 4 bytes behind its
   entry. The last one is the slot of an import. MODULE is the path that the trace gives the image.
 */
#include <stdio.h>
#include <stdlib.h>

#include "grinder/test_traces/pe_sample.h"
#include "trace/trace_sample.h"

#define BASE 0x7ff712340000ull

int main(int argc, char **argv)
{
    size_t count = argc > 5 ? (size_t)argc - 5 : 0;
    uint32_t *rvas;
    struct pe_sample image;
    struct trace_sample trace;
    uint32_t node;

    rvas = calloc(count + 1, sizeof(*rvas));
    if (!count || !rvas)
        return 2;
    for (size_t i = 0; i < count; i++)
        rvas[i] = (uint32_t)strtoul(argv[5 + i], NULL, 0);
    image = pe_sample_make(argv[1], argv[1], rvas, count);
    pe_sample_write(argv[2], image.bytes, image.size);

    trace_sample_begin(&trace, 321, argv[4]);
    trace_sample_header(&trace)->system = TRACE_SYSTEM_WINDOWS;
    trace_sample_add_thread(&trace, "main");
    trace_sample_add_module(&trace, argv[4], BASE, 1 << 20, 1, (uint32_t)count,
                            image.original_hash);
    node = trace_sample_thread(&trace, 1)->root;
    for (size_t i = 0; i < count; i++)
        node = trace_sample_add_node(&trace, 1, node, i ? BASE + rvas[i - 1] + 5 : 0,
                                     (uint32_t)i + 1, 1, 1000 * (count - i));
    pe_sample_write(argv[3], trace.bytes, trace.size);
    trace_sample_free(&trace);
    free(image.bytes);
    free(rvas);
    return 0;
}
