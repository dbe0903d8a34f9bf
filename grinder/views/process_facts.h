/* What is said of a process beside its figures: how it ended, how its times were taken, and what is
   missing. */
#ifndef UMBRA_GRINDER_PROCESS_FACTS_H
#define UMBRA_GRINDER_PROCESS_FACTS_H

#include <stdbool.h>
#include <stdio.h>

#include "grinder/profile/profile.h"

/*
 * A line each, of a label and a text. Labels in capitals tell what is missing:
 *
 *        state     ended through exit()
 *        LOST      3 contexts whose callers are missing
 */
void process_facts_write(FILE *stream, const struct profile *profile,
                         const struct process *process);

/* Lines for threads that returned from calls made before a fork. */
void process_inherited_write(FILE *stream, const struct process *process);

/* Writes, for a profile with the times of another recording, what of these fits; else nothing. */
void borrowed_times_write(FILE *stream, const struct profile *profile, const struct images *images);

/* how must hold what is returned. */
const char *process_how_it_ended(const struct trace_header *header, char how[64]);

/* From the beginning of recording to its end as far as that is known; else 0. */
double process_seconds(const struct process *process);

/* The share of measuring in what was measured, in percent. */
double measuring_share(uint64_t self_ns, uint64_t measuring_ns);

/* A module is seen mapped before it is seen to be instrumented, at its first call. */
bool module_is_instrumented_later(const struct process *process, const struct module_facts *module);

#endif
