#include "grinder/formats/part_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "grinder/profile/own_name.h"
#include "support/utf8.h"

static bool has_pid(const struct profile *profile, uint32_t pid)
{
    for (size_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].header.pid == pid)
            return true;
    return false;
}

/* An earlier trace of the same process, that ended by exec. */
static bool is_exec(const struct profile *profile, const struct trace_header *header)
{
    for (size_t i = 0; i < profile->process_count; i++) {
        const struct trace_header *other = &profile->processes[i].header;
        if (other->pid == header->pid && other->end == TRACE_END_EXEC &&
            other->created_ns < header->created_ns)
            return true;
    }
    return false;
}

void process_name(char name[PART_NAME_SIZE], const struct profile *profile, size_t process)
{
    const struct trace_header *header = &profile->processes[process].header;
    char origin[64] = "", own[OWN_NAME_SIZE];

    own_name(own, header);
    if (header->fork_of_pid)
        snprintf(origin, sizeof(origin), " (fork of %" PRIu32 ")", header->fork_of_pid);
    else if (is_exec(profile, header))
        snprintf(origin, sizeof(origin), " (exec by %" PRIu32 ")", header->pid);
    else if (header->ppid && has_pid(profile, header->ppid))
        snprintf(origin, sizeof(origin), " (child of %" PRIu32 ")", header->ppid);
    snprintf(name, PART_NAME_SIZE, "%s %" PRIu32 "%s", own, header->pid, origin);
    utf8_sanitise(name);
}

size_t process_lives_before(const struct profile *profile, size_t process)
{
    size_t count = 0;

    for (size_t i = 0; i < process; i++)
        count += profile->processes[i].header.pid == profile->processes[process].header.pid;
    return count;
}

void thread_name(char name[PART_NAME_SIZE], const struct trace_thread *thread)
{
    if (thread->name[0])
        snprintf(name, PART_NAME_SIZE, "%s", thread->name);
    else
        snprintf(name, PART_NAME_SIZE, "thread %" PRIu32, thread->ordinal);
    utf8_sanitise(name);
}

void merged_name(char name[PART_NAME_SIZE], const struct profile *profile)
{
    snprintf(name, PART_NAME_SIZE, "all threads of %zu process%s", profile->process_count,
             profile->process_count == 1 ? "" : "es");
}

void part_name(char name[PART_NAME_SIZE], const struct profile *profile, const struct part *part)
{
    const struct process *process = &profile->processes[part->process];
    char thread[PART_NAME_SIZE];
    size_t length;

    if (profile->merged) {
        merged_name(name, profile);
        return;
    }
    process_name(name, profile, part->process);
    thread_name(thread, &process->threads[part->thread].record);
    length = strlen(name);
    snprintf(name + length, PART_NAME_SIZE - length, ": %.100s", thread);
}
