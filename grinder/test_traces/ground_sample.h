/* For tests: a trace_sample, ground. */
#ifndef UMBRA_GRINDER_GROUND_SAMPLE_H
#define UMBRA_GRINDER_GROUND_SAMPLE_H

#include "grinder/profile/profile.h"
#include "trace/trace_sample.h"

struct ground {
    struct images images;
    struct profile profile;
    char path[64]; /* of the trace */
    int fd;
};

/* Grinds and symbolizes the sample, which must be readable; frees it. */
void ground_begin(struct ground *ground, struct trace_sample *sample, bool merged);

/* Begins with a folder of debug files, or null. */
void ground_begin_with(struct ground *ground, struct trace_sample *sample, bool merged,
                       const char *debug_dir);
void ground_free(struct ground *ground);

/* Costs of the function with that place in the unknown image, as a trace without modules has it:
   its number in the trace. Zeroes if there is none. */
struct costs ground_function(const struct ground *ground, size_t part, uint32_t function);

/* Costs of the calls from one function to another, all sites together; caller 0 is the root. */
struct costs ground_edge(const struct ground *ground, size_t part, uint32_t caller,
                         uint32_t callee);

#endif
