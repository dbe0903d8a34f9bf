/* What a report is about; report_write.h draws the page. */
#ifndef UMBRA_GRINDER_REPORT_H
#define UMBRA_GRINDER_REPORT_H

#include "grinder/coverage/coverage.h"
#include "grinder/profile/images.h"
#include "grinder/profile/process_list.h"
#include "grinder/profile/profile.h"

struct report {
    const struct profile *profile; /* symbolized */
    const struct images *images;
    struct process_list *processes; /* of the whole recording */
    uint32_t shown;                 /* the pid whose profile this is; 0: of all */
    const struct coverage *coverage; /* of the profile's traces, resolved; null: these have no blocks */
    const char *const *path_maps;
    const char *const *source_roots; /* --source-root; ends with null */
    bool verbose, quiet;             /* what is said of the files whose text is in it */
};

#endif
