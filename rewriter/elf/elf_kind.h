/* What kind of file something is, told by content, for those who have to sort many. */
#ifndef UMBRA_REWRITER_ELF_KIND_H
#define UMBRA_REWRITER_ELF_KIND_H

#include <stddef.h>
#include <stdint.h>

enum elf_kind {
    ELF_KIND_OTHER,        /* no ELF file, or no program or library: an object, a core dump */
    ELF_KIND_MACHINE,      /* a program or library for another machine */
    ELF_KIND_GO,           /* a Go program */
    ELF_KIND_INSTRUMENTED, /* already */
    ELF_KIND_AGENT,        /* the agent itself */
    ELF_KIND_MALFORMED,    /* ours, but it contradicts itself */
    ELF_KIND_ORIGINAL,     /* to be instrumented */
};

enum elf_kind elf_kind(uint8_t *bytes, size_t size);

#endif
