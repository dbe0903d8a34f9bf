/* The socket by which call_trace_service hands over traces of programs that come later; its other
   end, and what is said there: service/tool/linux/top_feed.h. */
#ifndef UMBRA_GRINDER_TRACE_FEED_H
#define UMBRA_GRINDER_TRACE_FEED_H

#include <stdbool.h>

struct trace_feed {
    int socket;   /* -1: there is none */
    bool is_owed; /* an answer that did not come in time */
};

/* The descriptor of the next trace, which is the caller's; -1 if there is none now. Waits a second
   at most. */
int trace_feed_next(struct trace_feed *feed);

#endif
