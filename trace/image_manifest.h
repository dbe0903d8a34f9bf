/*
 * What `instrument` adds to an image, and what the agent and the grinder find there.
 *
 *      original segments          unchanged but for patched prologues and what `changes` lists
 *      +-----------------------+
 *      | RX  stubs             |  section .umbra.stubs
 *      +-----------------------+
 *      | R   program headers   |  if there is no room for them where they were
 *      |     dynamic tables    |  with one more entry each, or moved to give others room:
 *      |                       |  rewriter/elf/write/elf_room.h
 *      |     unwind tables     |  of the stubs, section .umbra.frames; .eh_frame_hdr of all
 *      |     image_manifest    |  section .umbra.manifest
 *      |       manifest_function [function_count]
 *      |       manifest_change [change_count]
 *      |       manifest_copy [copy_count]
 *      |       manifest_site [site_count]
 *      |       manifest_stretch [stretch_count]
 *      |       manifest_block [block_count]
 *      |       manifest_way [way_count]
 *      |       manifest_import [import_count]
 *      |       strings
 *      +-----------------------+
 *      | RW  .dynamic          |
 *      |     image_header      |  section .umbra.header
 *      |- - - - - - - - - - - -|  no bytes in the file from here on, zero
 *      |     (page)            |
 *      |       hook word       |  section .umbra.hook: a page that holds the hook word and nothing
 *      |     (pages)           |  else, at IMAGE_HOOK_IN_PAGE: see below
 *      |       cover           |  the same section: a byte for each block that is marked, or a word for
 *      +-----------------------+  each that is counted, where image_cover_place says
 *
 * A PE image gets three sections behind its own, and keeps the overlay behind these:
 *
 *      .umbrax  RX   stubs, and calls to imports
 *      .umbrar  R    import directory, .reloc and .pdata rebuilt, unwind codes, image_manifest
 *      .umbraw  RW   image_header, at the section's start: its manifest_rva leads to the manifest
 *
 * A function's first bytes are replaced by a 5-byte `jmp` to its stub:
 *
 *      function:           jmp  stub               (behind an endbr64, if there is one)
 *                       or jmp  short hole         patch_size 2; hole, a manifest_change: jmp stub
 *      ...
 *      stub:               mov  [rsp - 24], rcx          48 89 4c 24 e8
 *                          mov  rcx, [rip + hook word]   48 8b 0d ........
 *                          jrcxz off                     e3 16              0: nothing is recorded
 *                          mov  [rsp - 16], rax          48 89 44 24 f0
 *                          lea  rax, [rip + body]        48 8d 05 ........
 *                          jmp  rcx                      ff e1
 *                          .long header - body                              STUB_HEADER_DISTANCE
 *                          .long index                                      STUB_INDEX, STUB_LEAF, STUB_TIMED
 *      off:                mov  rcx, [rsp - 24]          48 8b 4c 24 e8
 *      body:               the displaced instructions, fixed up
 *                          jmp  function + patched bytes
 *
 * A stub of i386, where a call of what follows it is the way to learn where it is; nothing is below the stack
 * pointer:
 *
 *      stub:               push ecx                      51
 *                          push eax                      50
 *                          call here                     e8 00 00 00 00
 *      here:               pop  eax                      58
 *                          mov  ecx, [eax + hook word]   8b 88 ........     its distance from here
 *                          jecxz off                     e3 0d
 *                          lea  eax, [eax + body]        8d 40 1b           the body's
 *                          jmp  ecx                      ff e1
 *                          .long header - body                              STUB_HEADER_DISTANCE
 *                          .long index                                      STUB_INDEX, STUB_LEAF, STUB_TIMED
 *      off:                pop  eax                      58
 *                          pop  ecx                      59
 *                          nop                           0f 1f 00
 *      body:               as above
 *
 * Its hook is entered with eax = body, the program's eax at [esp], ecx at [esp + 4] and the return address
 * at [esp + 8].
 *
 * Where no byte is free (patch_size 0, but for imports), the function stays as it is: what leads to
 * it is changed, which `changes` has, and its stub's body is a jump to the function.
 *
 * Where the body is copied, `jmp copy` stands in place of the stub's first instruction, and its body is a
 * jump into the copy (docs/copies.md).
 *
 * The hook is entered with rax = body, the program's rax at [rsp - 16] and rcx at [rsp - 24], rsp
 * at the return address, all else as the caller left it, flags included, which is why the stub
 * tests with jrcxz. Going on to `body` with both restored is the original function.
 *
 * The hook word of an ELF image is bound by the dynamic linker to the agent's umbra_enter_13. From
 * the first call on, where the process is recorded, the first page of its trace lies over the page
 * (hooks/hook_word.h), and the word is trace_header.hook, the same for all images of the process:
 *
 *      image a            trace, mapped                 image b
 *      | hook word | ---> | trace_header.hook | <--- | hook word |
 *                                 ^
 *                                 | service: 0 to pause
 *
 * Where nothing is recorded it is 0, as in the images of a PE file, where it is a word of the
 * image_header, the slot of an import.
 */
#ifndef UMBRA_IMAGE_MANIFEST_H
#define UMBRA_IMAGE_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "trace/trace_format.h"

#define IMAGE_MAGIC   0x314547414d494255ull /* "UBIMAGE1", little endian */
#define IMAGE_VERSION 13
/* What the hook word is bound to at load time. Ends in IMAGE_VERSION, so that the loader refuses an
   image with an agent that expects other stubs. */
#define IMAGE_HOOK_SYMBOL "umbra_enter_13"
#define IMAGE_AGENT_NAME  "libhooks.so"
#define IMAGE_AGENT_NAME_I386 "libhooks32.so"
#define IMAGE_PE_AGENT_NAME                                                                        \
    "hooks.dll" /* exports IMAGE_HOOK_SYMBOL; its import slot is entry_hook */
#define IMAGE_PE_STUBS    ".umbrax"
#define IMAGE_PE_MANIFEST ".umbrar"
#define IMAGE_PE_HEADER   ".umbraw"
#define MANIFEST_MAGIC    0x3149464e414d4255ull /* "UBMANFI1", little endian */
/* From a stub's body. */
#define STUB_HEADER_DISTANCE (-13) /* int32 */
#define STUB_INDEX           (-9)  /* uint32: place in the manifest */
/* Above STUB_INDEX, as TRACE_FUNCTION_LEAF: calls nothing and does not loop. May be left out. */
#define STUB_LEAF           0x80000000u
#define STUB_TIMED          0x40000000u /* above STUB_INDEX, as TRACE_FUNCTION_TIMED */
#define STUB_FRAME_SIZE      41 /* from a stub to its body, of x86-64 */
#define STUB_FRAME_SIZE_I386 34
#define GENERATED_ELSEWHERE 1  /* image_header.generated_size */
#define IMAGE_HOOK_PAGE     4096
#define IMAGE_HOOK_IN_PAGE  3328 /* where the hook word of an ELF image is in its page */

/* Writable, one an image; zero but for what is marked. */
struct image_header {
    uint64_t magic;          /* set: IMAGE_MAGIC */
    uint64_t entry_hook;     /* of a PE image, the hook word: bound to umbra_enter_13 by the loader;
                                the agent then stores the hook that serves the session's state, 0
                                if there is none. Of an ELF image 0 */
    uint32_t first_function; /* number of function 0, given by the agent; 0 before */
    uint32_t version;        /* set: IMAGE_VERSION */
    uint32_t header_rva;     /* set: address of this header, from the image's base */
    uint32_t manifest_rva;   /* set */
    uint32_t image_size;     /* set: bytes from the base to the end of the last segment; of the original's
                                last one, where what was added was put elsewhere (--away) */
    uint32_t generated_rva;  /* set: code that the program's own code generator made, whose calls */
    uint32_t generated_size; /* are not recorded (rewriter/elf/code/elf_generated.h); size 0: none, */
                             /* GENERATED_ELSEWHERE: all of it is made at run time */
    uint32_t hook_rva;       /* set: of the hook word */
    uint32_t added_rva;      /* set: of the first page that `instrument` has added; all from there
                                on is, to image_size unless that is less. Of a PE image 0 */
    uint32_t cover_size;     /* set: bytes for blocks that are marked or counted; 0: there are none */
    uint32_t flags;          /* set: enum image_flag */
    uint32_t block_hash;     /* set: image_block_hash of all its blocks: which they are */
};

enum image_flag {
    IMAGE_COUNTS_NO_CALLS = 1, /* its hook word is 0, whatever the session */
    IMAGE_COUNTS_INSTRUCTIONS = 2, /* copies count those that each context executes */
    IMAGE_HAS_LANES = 4,           /* words that count blocks are each thread's own: IMAGE_LANES */
    IMAGE_IS_AWAY = 8, /* made for a process that has mapped the original: what was added is elsewhere (--away) */
};

/*
 * Where threads add to words of their own, an image has room for the cover of some of them, side by side:
 *
 *      | lane 0: threads that have none | lane 1 | lane 2 | …
 *      ^ cover       <--IMAGE_LANE_SIZE-->
 *
 * The code adds the thread's distance (struct frame_counts) to the address of a word in lane 0. Only the pages of
 * lanes that are in use take memory: the agent maps the trace's there.
 */
#define IMAGE_LANES     64
#define IMAGE_LANE_SIZE (2u << 20)

/* Where a byte of the cover is, from the page behind that of the hook word: each page has room for a
   trace_block in front. */
static inline uint32_t image_cover_place(uint32_t byte)
{
    return byte / TRACE_COVER_BYTES * TRACE_BLOCK_SIZE + TRACE_UNIT + byte % TRACE_COVER_BYTES;
}

static inline uint32_t image_cover_pages(uint32_t cover_size)
{
    return (cover_size + TRACE_COVER_BYTES - 1) / TRACE_COVER_BYTES;
}

/* Of blocks in their order, each with the hash of those before it: FNV-1a, by words. */
#define IMAGE_NO_BLOCK_HASH 2166136261u

static inline uint32_t image_block_hash(uint32_t before, uint32_t rva, uint32_t size)
{
    return (((before ^ rva) * 16777619u) ^ size) * 16777619u;
}

/* How a function was treated. The words of `instrument --list`; documented in docs/. */
enum function_state {
    FUNCTION_SKIPPED = 0,
    FUNCTION_HOOKED = 1,
};

struct image_manifest {
    uint64_t magic;   /* MANIFEST_MAGIC */
    uint32_t version; /* IMAGE_VERSION */
    uint32_t size;    /* bytes, functions and strings included */
    uint32_t function_count;
    uint32_t functions;      /* offset of the first manifest_function from here */
    uint32_t original_path;  /* offset from here of a zero-terminated absolute path */
    uint32_t agent_path;     /* offset from here of a text; may begin with $ORIGIN */
    uint64_t original_size;  /* bytes of the original file */
    uint64_t original_hash;  /* XXH3 64 of its content */
    uint64_t preferred_base; /* lowest address as linked: rva + this = address in the file */
    uint32_t build_id;       /* offset from here; 0 if there is none */
    uint32_t build_id_size;
    uint32_t changes; /* offset of the first manifest_change from here */
    uint32_t change_count;
    uint64_t seal;    /* XXH3 64 of this whole file, in which these 8 bytes are 0 */
    uint32_t imports; /* offset of the first manifest_import from here */
    uint32_t import_count;
    uint32_t copies; /* offset of the first manifest_copy from here */
    uint32_t copy_count;
    uint32_t sites; /* offset of the first manifest_site from here */
    uint32_t site_count;
    uint32_t stretches; /* offset of the first manifest_stretch from here */
    uint32_t stretch_count;
    uint32_t blocks; /* offset of the first manifest_block from here */
    uint32_t block_count;
    uint32_t ways; /* offset of the first manifest_way from here */
    uint32_t way_count; /* block_count if blocks are counted, else 0 */
};

/* Ascending by rva, one for every function that was found. 32 bytes. */
struct manifest_function {
    uint32_t rva;         /* of the entry, from the image's base */
    uint32_t size;        /* bytes as far as known, else 0 */
    uint32_t stub_rva;    /* 0 if skipped */
    uint8_t state;        /* enum function_state */
    uint8_t reason;       /* how it was patched or why not: rewriter/functions/patch_reason.h */
    uint8_t patch_offset; /* of the first patched byte from rva (4 behind an endbr64) */
    uint8_t patch_size;   /* bytes of `original` in use: the jmp and the fill behind it */
    uint8_t original[16]; /* what stood at rva + patch_offset */
};

/*
 * Bytes of the original file that were overwritten and are no prologue: the ELF header, branches
 * sent elsewhere. The original is the instrumented file cut off at original_size, with `original`
 * of every hooked function and of every change put back, in any order. A PE image's headers grow if
 * they have no room for the new sections: then it is cut off later by as much, and what came in
 * behind the headers is taken out. SizeOfHeaders, before and after, says how many bytes.
 *
 *       0             4      5                                 16
 *      +-------------+------+-----------------------------------+
 *      | file_offset | size | original: `size` bytes, then 0    |
 *      +-------------+------+-----------------------------------+
 *
 * A longer change takes several entries, one behind the other. 16 bytes.
 */
#define MANIFEST_CHANGE_SIZE 11
struct manifest_change {
    uint32_t file_offset;
    uint8_t size; /* 1 to MANIFEST_CHANGE_SIZE */
    uint8_t original[MANIFEST_CHANGE_SIZE];
};

/*
 * A function of another image, which this one calls through a slot bound by the dynamic linker.
 * Among the manifest_functions it stands at the slot's rva, with nothing patched there: the calls
 * are, which `changes` has, and go to the stub. Its name is here, as it may have no other symbol.
 *
 *       0          4      8
 *      +----------+------+
 *      | function | name |
 *      +----------+------+
 *
 * Ascending by function.
 */
struct manifest_import {
    uint32_t function; /* place among the manifest_functions */
    uint32_t name;     /* offset from the manifest of the zero-terminated symbol's name */
};

/*
 * The copy of a function's or fragment's body: docs/copies.md.
 *
 *       0     4      8          12        16             20
 *      +-----+------+----------+---------+--------------+
 *      | rva | size | function | counted | instructions |
 *      +-----+------+----------+---------+--------------+
 *
 * Ascending by rva and by function; none overlaps another.
 */
struct manifest_copy {
    uint32_t rva;      /* of the copy's first byte */
    uint32_t size;     /* bytes of the copy, at least 1 */
    uint32_t function; /* place among the manifest_functions */
    uint32_t counted;  /* place of its first manifest_stretch; it has those up to the next copy's */
    int32_t instructions; /* of each call, beside those that its context counts */
};

/*
 * Code in a copy that stands in front of a call or jump and counts it: whoever executes it is not in
 * the function (frame_code.h of the rewriter).
 *
 *      | gap | size | gap | size |
 *      ^ copy's rva   ^ end of the one before
 *
 * A gap that is too long for 16 bits takes more of them, with sizes of 0.
 */
struct manifest_stretch {
    uint16_t gap;  /* bytes of the copy's own in front of it */
    uint16_t size; /* bytes */
};

/*
 * A return address in a copy, and the one in the original that it stands for. Each is behind the
 * first byte of the copy, or function, and not behind its end.
 *
 *       0      4          8
 *      +------+----------+
 *      | copy | original |
 *      +------+----------+
 *
 * Ascending by copy.
 */
struct manifest_site {
    uint32_t copy, original; /* RVAs */
};

/*
 * Instructions of the original that run one after the other, from the first on. Ascending by rva, as
 * are the bytes that they set; none overlaps another.
 */
struct manifest_block {
    uint32_t rva;
    uint32_t size; /* bytes; 0: padding that never runs */
};

/*
 * How a block is counted: where it leads from and to. Places are numbers from 1 on, below way_count + 1: what leads
 * to one leads on from there. 0 is where control comes from and goes to that is not seen. Those with MANIFEST_COUNTED
 * have words in the cover, in their order; how often others ran follows from these (rewriter/copy/copy_ways.h).
 * One for each manifest_block.
 */
#define MANIFEST_COUNTED 0x80000000u
struct manifest_way {
    uint32_t from; /* and MANIFEST_COUNTED, or not */
    uint32_t to;
};

_Static_assert(sizeof(struct image_header) == 64, "image header is a cache line");
_Static_assert(offsetof(struct trace_header, hook) == IMAGE_HOOK_IN_PAGE, "stubs jump by it");
_Static_assert(TRACE_HEADER_SIZE == IMAGE_HOOK_PAGE, "the one lies over the other");
_Static_assert(sizeof(struct manifest_function) == 32, "manifest entry");
_Static_assert(sizeof(struct manifest_change) == 16, "manifest change");
_Static_assert(sizeof(struct manifest_import) == 8, "manifest import");
_Static_assert(sizeof(struct manifest_copy) == 20, "manifest copy");
_Static_assert(sizeof(struct manifest_stretch) == 4, "manifest stretch");
_Static_assert(sizeof(struct manifest_site) == 8, "manifest site");
_Static_assert(sizeof(struct manifest_block) == 8, "manifest block");
_Static_assert(sizeof(struct manifest_way) == 8, "manifest way");
_Static_assert(TRACE_COVER_BYTES % sizeof(uint64_t) == 0, "no word lies in two pages");

#endif
