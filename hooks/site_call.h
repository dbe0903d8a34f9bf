/* A call in a copy that comes to the agent (sites.c), and what is done about it wherever it leads. */
#ifndef UMBRA_HOOKS_SITE_CALL_H
#define UMBRA_HOOKS_SITE_CALL_H

#include "hooks/invocation.h"
#include "hooks/links.h"
#include "hooks/slow_paths.h"
#include "trace/frame_format.h"

struct site_call {
    struct thread *thread;
    const struct frame_site *site;
    const struct frame_key *self; /* of the function that makes it */
    uint64_t slot;                /* of the call */
    uint64_t own;                 /* of the frame that makes it */
    uint64_t at;                  /* address of the call itself */
    uint64_t ret;                 /* that it is to return to */
    uint64_t callee;              /* the copy that it leads to */
    uint64_t pointee;             /* of a call by a pointer: what it leads to */
    struct trace_node *node; /* the context of the call, once it is counted; null: it leads out */
};

/* The context of a call of a function. A jump out of a frame that has none is its caller's call. Null: no
   room. */
struct trace_node *site_child(const struct site_call *call, const struct trace_links *from,
                              const struct frame_key *key);
/* The link, which has led to nobody yet, counts calls from here. A jump is of no place. */
void site_note(const struct site_call *call, const struct trace_links *from,
               const struct trace_link *link);
/* The call is one of this context, and counted, by this link from now on. */
struct destination site_count(struct site_call *call, struct trace_links *from,
                              struct trace_link *link, struct trace_node *node);

/* What the word of the callee's slot is, of a call that leads out of copies. */
uint64_t site_out(const struct site_call *call, const struct trace_links *from);
/* Goes on at the call itself. */
struct destination site_go_on(const struct site_call *call);
/* Goes on with the call, which leads out of copies, or may. */
struct destination site_note_call(const struct site_call *call, const struct trace_links *from);
/* The call is made here, to an address. */
struct destination site_go_to(const struct site_call *call, uint64_t address);

#endif
