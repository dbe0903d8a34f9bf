/* How a program maps the trace whose path it was given; for the test client. */
#ifndef UMBRA_SERVICE_TEST_MAPPING_H
#define UMBRA_SERVICE_TEST_MAPPING_H

#include <stdint.h>

/* Shared, to be read and written. Returns null, errno set, if it cannot be had. */
void *test_mapping_open(const char *path, uint64_t size);

#endif
