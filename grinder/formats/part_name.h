/*
 * What a part is called where it stands beside those of other processes:
 *
 *      sh 4711: main                       process, thread
 *      sh 4712 (fork of 4711): main        forked while recording
 *      ls 4712 (exec by 4712): main        the same process, behind an exec
 *      cc 4720 (child of 4711): main       started by a recorded process
 */
#ifndef UMBRA_GRINDER_PART_NAME_H
#define UMBRA_GRINDER_PART_NAME_H

#include "grinder/profile/profile.h"

#define PART_NAME_SIZE 512

/* "sh 4712 (fork of 4711)": executable, pid, and where it came from if that is in the profile or
   known to be a fork. Printable. */
void process_name(char name[PART_NAME_SIZE], const struct profile *profile, size_t process);

/* How many processes before it in the profile have its pid: it ran something else then, or they are
   of another machine. */
size_t process_lives_before(const struct profile *profile, size_t process);

/* The thread's name, or "thread N" if it has none. Printable. */
void thread_name(char name[PART_NAME_SIZE], const struct trace_thread *thread);

/* "all threads of N processes" */
void merged_name(char name[PART_NAME_SIZE], const struct profile *profile);

/* Both of the first two; of a merged part, the last. */
void part_name(char name[PART_NAME_SIZE], const struct profile *profile, const struct part *part);

#endif
