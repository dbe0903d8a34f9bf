#include "grinder/views/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/profile/match.h"
#include "support/memory.h"

static const struct part none;

uint64_t diff_figure(const struct costs *costs, enum weight weight)
{
    const struct stack_cost own = {
        .calls = costs->calls, .self_ns = costs->self_ns, .instructions = costs->self_instructions};

    return weight_of(weight, &own);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static int compare_distances(const struct change *a, const struct change *b, enum weight weight)
{
    uint64_t of_a =
        distance(diff_figure(&a->costs[BEFORE], weight), diff_figure(&a->costs[AFTER], weight));
    uint64_t of_b =
        distance(diff_figure(&b->costs[BEFORE], weight), diff_figure(&b->costs[AFTER], weight));

    return (of_a < of_b) - (of_a > of_b);
}

/* By the weight, then by calls (of calls: by time), then in the order in which functions turned up.
 */
static int compare_changes(const void *left, const void *right, void *user)
{
    const struct change *a = left, *b = right;
    enum weight weight = *(const enum weight *)user;
    int order = compare_distances(a, b, weight);

    if (!order)
        order = compare_distances(a, b, weight == WEIGHT_CALLS ? WEIGHT_NS : WEIGHT_CALLS);
    return order ? order : (a->function > b->function) - (a->function < b->function);
}

static void add_side(struct diff *diff, uint32_t *places, int side)
{
    const struct cost_table *table = &diff->parts[side]->functions;

    for (size_t i = 0; i < table->keys.count; i++) {
        uint32_t function = (uint32_t)table->keys.pairs[i].a;
        uint32_t *place = &places[diff->same[function]];
        struct change *change;
        struct costs *sum;
        if (!*place)
            *place = (uint32_t)++diff->count;
        change = &diff->changes[*place - 1];
        if (side == BEFORE)
            change->was = change->was ? change->was : function;
        else if (!change->function)
            change->function = function;
        sum = &change->costs[side];
        sum->calls += table->costs[i].calls;
        sum->self_ns += table->costs[i].self_ns;
        sum->samples += table->costs[i].samples;
        sum->total_ns += table->costs[i].total_ns;
        sum->self_instructions += table->costs[i].self_instructions;
        sum->total_instructions += table->costs[i].total_instructions;
    }
}

static double variance(const struct costs *costs)
{
    return costs->samples ? (double)costs->self_ns * (double)costs->self_ns / (double)costs->samples
                          : 0;
}

uint64_t diff_noise(const struct diff *diff, const struct costs costs[SIDES])
{
    return diff->is_sampled
               ? (uint64_t)(2 * sqrt(variance(&costs[BEFORE]) + variance(&costs[AFTER])))
               : 0;
}

void diff_begin(struct diff *diff, const struct profile profiles[SIDES],
                const struct images *images, enum weight weight)
{
    size_t count = images_function_count(images);
    uint32_t *places = memory_zeroed(count, sizeof(*places)); /* in changes, + 1 */

    *diff = (struct diff){.images = images, .weight = weight};
    diff->has_times = profile_has_times(&profiles[BEFORE]) && profile_has_times(&profiles[AFTER]);
    diff->has_instructions =
        profile_has_instructions(&profiles[BEFORE]) && profile_has_instructions(&profiles[AFTER]);
    diff->is_sampled =
        profile_is_sampled(&profiles[BEFORE]) && profile_is_sampled(&profiles[AFTER]);
    if (!strcmp(profile_counts(&profiles[BEFORE]), profile_counts(&profiles[AFTER])))
        diff->counts = profile_counts(&profiles[BEFORE]);
    diff->changes = memory_zeroed(count, sizeof(*diff->changes));
    for (int side = 0; side < SIDES; side++) {
        diff->is_listed[side] = profiles[side].listed;
        diff->parts[side] = profiles[side].part_count ? &profiles[side].parts[0] : &none;
    }
    diff->same =
        match_functions(images, &diff->parts[BEFORE]->functions, &diff->parts[AFTER]->functions);
    for (int side = 0; side < SIDES; side++)
        add_side(diff, places, side);
    for (size_t i = 0; i < diff->count; i++)
        diff->changes[i].function =
            diff->changes[i].function ? diff->changes[i].function : diff->changes[i].was;
    for (size_t i = 0; i < diff->count; i++)
        diff->changes[i].noise_ns = diff_noise(diff, diff->changes[i].costs);
    if (diff->count)
        qsort_r(diff->changes, diff->count, sizeof(*diff->changes), compare_changes, &diff->weight);
    free(places);
}

static bool differs(const struct diff *diff, const struct costs costs[SIDES])
{
    return (diff->counts && costs[BEFORE].calls != costs[AFTER].calls) ||
           (diff->has_instructions &&
            costs[BEFORE].self_instructions != costs[AFTER].self_instructions);
}

void diff_note_noise(struct diff *diff, const struct profile *profiles)
{
    const struct profile of_one_build[SIDES] = {profiles[BEFORE], profiles[AGAIN]};
    bool *varies = memory_zeroed(images_function_count(diff->images), sizeof(*varies));
    struct diff runs;

    diff_begin(&runs, of_one_build, diff->images, diff->weight);
    for (size_t i = 0; i < runs.count; i++) {
        const struct change *change = &runs.changes[i];
        if (differs(&runs, change->costs))
            varies[diff->same[change->was ? change->was : change->function]] = true;
    }
    diff_free(&runs);
    for (size_t i = 0; i < diff->count; i++)
        diff->changes[i].varies = varies[diff->same[diff->changes[i].function]];
    diff->knows_noise = true;
    free(varies);
}

void diff_free(struct diff *diff)
{
    free(diff->same);
    free(diff->changes);
    *diff = (struct diff){0};
}

bool diff_has_stacks(const struct diff *diff)
{
    return diff->parts[BEFORE]->stacks.keys.count && diff->parts[AFTER]->stacks.keys.count;
}

/* How far it changed by the weight; 0 if samples do so by chance. */
static uint64_t weighed(const struct diff *diff, const struct costs costs[SIDES], uint64_t noise_ns)
{
    uint64_t by = distance(diff_figure(&costs[BEFORE], diff->weight),
                           diff_figure(&costs[AFTER], diff->weight));

    return diff->weight == WEIGHT_NS && by <= noise_ns ? 0 : by;
}

void diff_whole(const struct diff *diff, struct costs whole[SIDES])
{
    for (int side = 0; side < SIDES; side++)
        whole[side] = (struct costs){
            .calls = diff->parts[side]->calls,
            .self_ns = diff->parts[side]->ns,
            .samples = diff->parts[side]->samples,
            .self_instructions = diff->parts[side]->instructions,
        };
}

/* The sums of functions that do not vary. */
static void judged_whole(const struct diff *diff, struct costs judged[SIDES])
{
    diff_whole(diff, judged);
    for (size_t i = 0; i < diff->count; i++) {
        for (int side = 0; side < SIDES && diff->changes[i].varies; side++) {
            const struct costs *costs = &diff->changes[i].costs[side];
            judged[side].calls -= costs->calls;
            judged[side].self_instructions -= costs->self_instructions;
        }
    }
}

bool diff_exceeds(const struct diff *diff, double percent)
{
    struct costs whole[SIDES], judged[SIDES];
    uint64_t largest;

    diff_whole(diff, whole);
    judged_whole(diff, judged);
    largest = weighed(diff, judged, diff_noise(diff, judged));
    for (size_t i = 0; i < diff->count; i++) {
        uint64_t by = diff->changes[i].varies
                          ? 0
                          : weighed(diff, diff->changes[i].costs, diff->changes[i].noise_ns);
        largest = by > largest ? by : largest;
    }
    return (long double)largest * 100 >
           (long double)percent * (long double)diff_figure(&whole[BEFORE], diff->weight);
}
