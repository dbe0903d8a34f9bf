/*
 * Folded stacks, as flamegraph.pl, inferno and speedscope read them: a line for each stack with a
 * figure of its own, frames from the bottom up.
 *
 *      fib 4711;main;main;fib;fib 79000000
 *
 * Of parts that are not merged, the two frames at the bottom are the process and the thread. A ';'
 * in a name is written as ':'. A line's last space stands before its figure.
 */
#include "grinder/formats/folded.h"

#include <inttypes.h>

#include "grinder/formats/format.h"
#include "grinder/formats/part_name.h"

static void write_frame(FILE *stream, const char *name)
{
    for (; *name; name++)
        putc(*name == ';' ? ':' : *name, stream);
}

void folded_write_stack(FILE *stream, const struct images *images, const struct stack_tree *stacks,
                        uint32_t stack)
{
    struct stack_frames frames;

    stack_spell(stacks, stack, &frames);
    for (size_t i = 0; i < frames.count; i++) {
        if (i)
            putc(';', stream);
        write_frame(stream, stack_frame_name(images, frames.functions[i]));
    }
}

static void write_part(FILE *stream, const struct view *view, const struct part *part)
{
    const struct profile *profile = view->profile;
    char process[PART_NAME_SIZE] = "", thread[PART_NAME_SIZE] = "";

    if (!profile->merged) {
        const struct process *of = &profile->processes[part->process];
        process_name(process, profile, part->process);
        thread_name(thread, &of->threads[part->thread].record);
    }
    for (uint32_t i = 1; i < part->stacks.keys.count; i++) {
        uint64_t figure = weight_of(view->weight, &part->stacks.costs[i]);
        if (!figure)
            continue;
        if (!profile->merged) {
            write_frame(stream, process);
            putc(';', stream);
            write_frame(stream, thread);
            putc(';', stream);
        }
        folded_write_stack(stream, view->images, &part->stacks, i);
        fprintf(stream, " %" PRIu64 "\n", figure);
    }
}

void folded_write(FILE *stream, const struct view *view)
{
    for (size_t i = view->first; i < view->first + view->count; i++)
        write_part(stream, view, &view->profile->parts[i]);
}
