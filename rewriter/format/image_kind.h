/* What kind of file something is, told by content, for those who have to sort many. */
#ifndef UMBRA_REWRITER_IMAGE_KIND_H
#define UMBRA_REWRITER_IMAGE_KIND_H

enum image_kind {
    IMAGE_KIND_OTHER,        /* no image, or no program or library: an object, a core dump */
    IMAGE_KIND_MACHINE,      /* a program or library for another machine, a virtual one included */
    IMAGE_KIND_GO,           /* a Go program */
    IMAGE_KIND_INSTRUMENTED, /* already */
    IMAGE_KIND_AGENT,        /* the agent itself */
    IMAGE_KIND_MALFORMED,    /* ours, but it contradicts itself */
    IMAGE_KIND_ORIGINAL,     /* to be instrumented */
};

#endif
