#include "hooks/pointer_calls.h"

#include "hooks/code_at.h"
#include "hooks/frames.h"
#include "hooks/further_targets.h"
#include "hooks/lasting.h"
#include "hooks/session.h"
#include "hooks/targets.h"
#include "trace/image_manifest.h"

#define LOOK_AFTER   128  /* calls of targets that are not known, and cannot be */
#define LOOK_SOON    4    /* such calls, where they can be */
#define LOOK_FURTHER 1024 /* calls of a target that has no place at its site */
#define MANY_BELOW   2048 /* calls of both known targets, meanwhile */

static uint64_t base_of(const struct image_header *image)
{
    return (uint64_t)image - image->header_rva;
}

static bool is_in(const struct image_header *image, uint64_t address)
{
    return address - base_of(image) < image->image_size;
}

/* What the site calls can be gone to at once: it is there as long as the site is. */
static bool outlasts(const struct site_call *call, uint64_t target)
{
    return is_in(frame_image(call->self), target) || lasting_image_has(target);
}

/* A link for a target that is new to a site: its context, or, of what is not copied, null with
   link->callee set. Of what is not to be known yet, that is 0. */
static struct trace_node *meet(const struct site_call *call, struct trace_links *from,
                               struct trace_link *link)
{
    const struct frame_key *key = target_key_if_code(call->pointee);
    const struct image_header *own = frame_image(call->self);
    bool is_same = is_in(own, call->pointee);
    struct trace_links *links;
    struct trace_node *node;

    if (!key && is_same && !code_is_entry(own, call->pointee)) /* it may be what binds a name */
        return NULL;
    if (key && !frame_image(key)->first_function) /* nobody has entered its image yet */
        return NULL;
    if (!key || (key->index & STUB_LEAF && !outlasts(call, call->pointee))) {
        link->callee = site_out(call, from);
        link->word = INT32_MIN;
        return NULL;
    }
    node = site_child(call, from, key);
    if (!node)
        return NULL;
    links = links_is_leaf(node) ? links_of_leaf(call->thread, node, key)
                                : links_of(call->thread, node, key);
    link->callee = (uint64_t)links;
    if (!links)
        return NULL;
    site_note(call, from, link);
    return node;
}

/*
 * Where most calls lead to further targets, a comparison with two known ones is guessed wrongly
 * again and again. Such a site knows none: all of its targets are in the table.
 */
static bool knows_none(const struct pointer_links *site)
{
    return site->targets[1] == POINTER_NO_TARGET;
}

/* The target's place at the site; a free one, if there is; else 2. */
static unsigned place_of(const struct pointer_links *site, uint64_t target)
{
    unsigned at = 0;

    if (knows_none(site))
        return 2;
    while (at < 2 && site->targets[at] && site->targets[at] != target)
        at++;
    return at;
}

/* Calls by the link since it was looked at last. Those that lead out of copies gain nothing by it.
 */
static uint32_t take_calls(const struct site_call *call, const struct trace_links *with,
                           struct trace_link *link)
{
    struct trace_node *node;
    uint32_t calls;

    if (link->callee & FRAME_OUT_BITS)
        return 0;
    node = links_node(call->thread, frame_links_in(link->callee));
    if (session.counts_only)
        return link_go_on(call->thread, with, link, node, call->ret);
    calls = link_calls(link);
    link_hand_on(link, node);
    link_arm(link, node);
    return calls;
}

/* What a link has counted is handed on: it is to count something else. */
static void leave_link(const struct site_call *call, const struct trace_links *with,
                       struct trace_link *link)
{
    struct trace_node *node = links_node(call->thread, frame_links_in(link->callee));

    if (session.counts_only)
        link_hand_on_from(call->thread, with, link, node, call->ret);
    else
        link_hand_on(link, node);
}

/* What the place has counted is handed on; it has `instead` for a target. */
static void forget_target(const struct site_call *call, const struct trace_links *with,
                          struct pointer_links *site, unsigned at, uint64_t instead)
{
    __atomic_store_n(&site->targets[at], instead, __ATOMIC_RELEASE);
    if (!(site->links[at].callee & FRAME_OUT_BITS))
        leave_link(call, with, &site->links[at]);
    site->links[at] = (struct trace_link){0};
}

static bool gains_by_link(uint64_t target)
{
    const struct frame_key *key = target_key_if_code(target);

    return key && !(key->index & STUB_LEAF);
}

/*
 * Programs call by one pointer what they need to begin with, and then something else all the time.
 * So after each `most` calls of a target that has no place at the site, it takes the place of the
 * one that was called less than that since. Returns its place, which is free then; 2: both are
 * called more, or, if a further target asks, so little that the site knows none from now on.
 */
static unsigned yield_place(const struct site_call *call, struct trace_links *with,
                            struct pointer_links *site, uint32_t most)
{
    uint32_t calls[2];
    unsigned less;

    if (knows_none(site))
        return 2;
    for (unsigned i = 0; i < 2; i++)
        calls[i] = take_calls(call, with, &site->links[i]);
    if (most == LOOK_FURTHER && calls[0] + calls[1] < MANY_BELOW) {
        forget_target(call, with, site, 0, POINTER_NO_TARGET);
        forget_target(call, with, site, 1, POINTER_NO_TARGET);
        return 2;
    }
    less = calls[1] < calls[0];
    if (calls[less] >= most || !gains_by_link(call->pointee))
        return 2;
    forget_target(call, with, site, less, 0);
    return less;
}

/* At a site that knows none: a further target whose turn comes twice on end is called most of the
   time by now. Returns a free place for it, or 2. */
static unsigned place_of_many(struct pointer_links *site, const struct trace_link *link)
{
    bool is_again = site->go[0] == (uint64_t)link;

    site->go[0] = is_again ? 0 : (uint64_t)link;
    if (!is_again)
        return 2;
    site->targets[1] = 0;
    __atomic_store_n(&site->targets[0], 0, __ATOMIC_RELEASE);
    return 0;
}

/* The call leads to a copy, and is one of this context. */
static struct destination count_at(struct site_call *call, struct trace_links *from,
                                   struct trace_link *link, struct trace_node *node)
{
    struct destination destination;

    call->callee = (uint64_t)target_key(call->pointee) + sizeof(struct frame_key);
    destination = site_count(call, from, link, node);
    *frame_word(call->thread, call->slot) = link->callee;
    return destination.is_thunk ? destination : site_go_to(call, call->callee);
}

/* The place has a link for the target that is called, and is ready. */
static void show_target(const struct site_call *call, struct pointer_links *site, unsigned at,
                        bool is_copy)
{
    bool is_direct = is_copy && outlasts(call, call->pointee);

    site->go[at] =
        is_direct ? (uint64_t)target_key(call->pointee) + sizeof(struct frame_key) : call->pointee;
    __atomic_store_n(&site->targets[at], call->pointee, __ATOMIC_RELEASE);
}

/* Calls of this target are counted by a link of their own from now on. Of what may be gone before
   the site, and of what is not copied, there is none. False: it stays unknown. */
static bool know_further(struct site_call *call, struct trace_links *from,
                         const struct pointer_links *site, struct destination *destination)
{
    const struct frame_key *key = target_key_if_code(call->pointee);
    struct further_target further = {(uint64_t)site, call->pointee, NULL, 0};
    struct trace_node *node;

    if (call->site->flags & FRAME_SITE_TAIL || !key || !outlasts(call, call->pointee) ||
        !further_target_has_room(call->thread))
        return false;
    further.link = links_further(call->thread, from);
    node = further.link ? meet(call, from, further.link) : NULL;
    if (!node)
        return false;
    *destination = count_at(call, from, further.link, node);
    if (session.counts_only)
        link_look_after(further.link, LOOK_FURTHER);
    further.go = call->callee;
    further_target_add(call->thread, &further);
    return true;
}

/* By a further link, whose turn it is: its target may be called more than one that has a place. */
static struct destination count_further(struct site_call *call, struct trace_links *from,
                                        struct trace_links *with, struct pointer_links *site,
                                        struct trace_link *link)
{
    struct trace_node *node = links_node(call->thread, frame_links_in(link->callee));
    struct destination destination = count_at(call, from, link, node);
    unsigned at;

    if (!session.counts_only)
        return destination;
    link_look_after(link, LOOK_FURTHER);
    at = knows_none(site) ? place_of_many(site, link) : yield_place(call, with, site, LOOK_FURTHER);
    if (at == 2)
        return destination;
    node = meet(call, from, &site->links[at]);
    if (site->links[at].callee)
        show_target(call, site, at, node != NULL);
    return destination;
}

/* The link is of a function of an image that is gone: another one lies in its place. */
static bool is_replaced(const struct site_call *call, const struct trace_link *link)
{
    const struct frame_key *key;

    if (link->callee & FRAME_OUT_BITS)
        return false;
    key = target_key(call->pointee);
    return !key || key->key != frame_links_in(link->callee)->key;
}

/* A target that has no place at the site. */
static unsigned find_place(struct site_call *call, struct trace_links *from,
                           struct trace_links *with, struct pointer_links *site,
                           struct destination *destination)
{
    struct trace_link *further = further_target_find(call->thread, site, call->pointee);

    if (further) {
        *destination = count_further(call, from, with, site, further);
        return 2;
    }
    with->unknown = LOOK_SOON - 1;
    if (know_further(call, from, site, destination))
        return 2;
    with->unknown = LOOK_AFTER - 1;
    return yield_place(call, with, site, LOOK_AFTER);
}

struct destination pointer_call(struct site_call *call, struct trace_links *from)
{
    struct trace_links *with = links_with(call->thread, from, call->site->link);
    struct pointer_links *site =
        with ? (struct pointer_links *)&with->links[call->site->link - with->first] : NULL;
    unsigned at = site ? place_of(site, call->pointee) : 2;
    struct destination destination = site_note_call(call, from);
    struct trace_link *link;
    struct trace_node *node = NULL;
    bool is_new;

    if (site && at == 2)
        at = find_place(call, from, with, site, &destination);
    if (at == 2)
        return destination;
    link = &site->links[at];
    is_new = !site->targets[at] || is_replaced(call, link);
    if (is_new && site->targets[at])
        leave_link(call, with, link);
    if (is_new)
        node = meet(call, from, link);
    else if (!(link->callee & FRAME_OUT_BITS))
        node = links_node(call->thread, frame_links_in(link->callee));
    else
        link->word = INT32_MIN;
    if (node)
        destination = count_at(call, from, link, node);
    if (is_new && link->callee)
        show_target(call, site, at, node != NULL);
    return destination;
}
