/*
 * What depends on the format of an image, ELF or PE: these functions. What does not stands once, in
 * tool/: analysing, rewriting, listing, verifying, undoing. tool/image_formats.h says which format
 * a file has.
 *
 *      rewriting      open, require_fit, is_agent_inside, has_cells, make_room, find_functions, module_name,
 *                     visit_names, plan_pointers, write, has_signature, close
 *      listing        open; require_fit, find_functions ... plan_pointers of an original,
 *                     find_names of an instrumented image; close
 *      verifying      open, take_back, close
 *      undoing        open, close
 */
#ifndef UMBRA_REWRITER_IMAGE_FORMAT_H
#define UMBRA_REWRITER_IMAGE_FORMAT_H

#include "rewriter/base/input_file.h"
#include "rewriter/base/output_file.h"
#include "rewriter/code/processor.h"
#include "rewriter/copy/copy_plan.h"
#include "rewriter/format/agent_format.h"
#include "rewriter/format/image_kind.h"
#include "rewriter/patch/patch_plan.h"
#include "rewriter/verify/judge.h"

/* An image that was opened. */
struct image {
    const struct image_format *format;
    const struct input_file *input; /* borrowed; its bytes are changed by all that writes */
    uint64_t base, end;             /* addresses */
    void *own;                      /* the format's */
    /* Once functions were looked for; the format's, as long as the image is open: */
    const struct code *code;
    const struct code_map *map;
    struct function_list *functions;
};

/* What an image is written with. */
struct image_source {
    const struct patch_plan *plan;
    const struct copy_plan *copies;
    const struct agent *agent;
    uint64_t away;             /* as in rewrite_options.h */
    const char *original_path; /* absolute */
    uint64_t original_hash;    /* XXH3 of the input */
};

/* Called with a name of what is at an address. */
typedef void (*name_visitor)(void *context, uint64_t address, const char *name);

struct image_format {
    const struct agent_format *agent;
    const struct processor *processor;

    enum image_kind (*kind)(uint8_t *bytes, size_t size);

    /* Reads the headers of image->input; sets base, end and own. On failure there is nothing to
       close. */
    bool (*open)(struct image *image, struct failure *failure);
    void (*close)(struct image *image);

    /* Refuses what cannot be rewritten, as far as that is known without looking at the code. */
    bool (*require_fit)(const struct image *image, struct failure *failure);
    /* Whether the agent becomes a part of the image itself; null: never. */
    bool (*is_agent_inside)(const struct image *image);
    /* Whether instructions can be counted where it runs: in glibc's thread control block. null: never. */
    bool (*has_cells)(const struct image *image);
    /* Whether it is signed, which does not hold once it is rewritten; null: never. */
    bool (*has_signature)(const struct image *image);

    /* Whether what is added can be anywhere: image_source.away. */
    bool can_be_away;
    /* Whether the agent times all calls of chosen functions: --time. */
    bool times_chosen;
    /* Whether calls of other images' functions are found. */
    bool finds_imports;

    /* Makes room for what is to be written, before functions are looked for; null: not needed. */
    bool (*make_room)(struct image *image, struct failure *failure);
    /* Finds and classifies the functions; with imports, also calls of other images' functions. */
    void (*find_functions)(struct image *image, bool with_imports);
    /* Finds only those that have names. */
    void (*find_names)(struct image *image);

    /* Gives functions without a name that of the separate debug file; visit_names visits those
       names, too, from then on. With may_add, functions that only it knows are added. null: never.
     */
    void (*read_debug_names)(struct image *image, bool may_add);

    /* What the image calls itself; null if it does not. */
    const char *(*module_name)(const struct image *image);
    /* Visits each symbol: a function may have several. */
    void (*visit_names)(const struct image *image, name_visitor visit, void *context);
    /* Redirects pointers to functions (patch_redirect.h), as far as it can; null: none. */
    void (*plan_pointers)(const struct image *image, struct patch_plan *plan);
    /* Fills in what it knows of bodies that may be copied; null: none can be. */
    void (*copy_source)(const struct image *image, struct copy_source *source);

    /* Writes the instrumented image; says what the judge should find in it. */
    bool (*write)(struct image *image, const struct image_source *source,
                  struct output_file *output, struct judge_expectation *expected,
                  struct failure *failure);

    /* Checks, and takes back, what of a finished image the seal does not count; null: nothing. */
    bool (*take_back)(struct image *image, struct failure *failure);
};

#endif
