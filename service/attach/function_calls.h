/* How often functions were called, out of the trace of a process that runs. */
#ifndef UMBRA_SERVICE_FUNCTION_CALLS_H
#define UMBRA_SERVICE_FUNCTION_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct called_image {
    uint64_t base;
    uint32_t first_function, function_count; /* numbers */
};

struct function_calls {
    uint64_t *calls; /* by number, of all threads and contexts */
    size_t count;
    struct called_image *images;
    size_t image_count;
};

/* trace: of a process that was attached to, whose calls no links count. False: it cannot be read, or there is no
   memory. function_calls_free frees it. */
bool function_calls_read(struct function_calls *calls, int trace);
void function_calls_free(struct function_calls *calls);

/* The image that has the function; null: none. */
const struct called_image *function_calls_image(const struct function_calls *calls, uint32_t function);

#endif
