/* How much room events may take. */
#ifndef UMBRA_SERVICE_EVENT_POLICY_H
#define UMBRA_SERVICE_EVENT_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct event_policy {
    uint64_t ring_size; /* bytes of a process's ring */
    uint64_t disk_size; /* bytes of a process's events; 0: no limit */
    bool keep_newest;   /* a flight recorder: past the limit the oldest are removed */
};

#endif
