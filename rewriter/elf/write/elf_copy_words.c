#include "rewriter/elf/write/elf_copy_words.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/copy/copy_resolve.h"
#include "support/memory.h"
#include "support/sorted.h"

/* Visits the entries of 8 bytes. */
struct pass {
    const struct elf_image *image;
    const struct copy_plan *plan;
    bool *is_relocated; /* of each of the plan's words */
    /* What to do with a word: `bytes` are where it is put together, or, to be noted, where it was;
       false ends all. */
    bool (*visit)(struct pass *pass, const struct copy_word *word, uint8_t *bytes);
    /* To note: */
    const struct elf_growth *growth;
    struct change_list *changes;
    /* To store: */
    const struct elf_grown *grown;
    const struct copy_set *copies;
    const struct function_list *functions;
};

static const struct copy_word *word_at(const struct copy_plan *plan, uint64_t slot, uint64_t target)
{
    size_t place = partition_point(i, plan->word_count, plan->words[i].slot < slot);
    const struct copy_word *word = &plan->words[place];

    return place < plan->word_count && word->slot == slot && word->target == target &&
                   word->size == sizeof(target)
               ? word
               : NULL;
}

/* Where the addend of a relocation is put together, or, to be noted, where it was; null if it does
   not stay there. */
static uint8_t *addend(const struct pass *pass, struct elf_table relocations, size_t index)
{
    size_t field = offsetof(Elf64_Rela, r_addend);

    if (pass->grown)
        return elf_grown_at(pass->grown, elf_relocation_place(pass->grown, index) + field);
    return elf_relocation_is_in_place(pass->growth, index)
               ? (uint8_t *)relocations.bytes + index * sizeof(Elf64_Rela) + field
               : NULL;
}

static bool visit_relocations(struct pass *pass)
{
    struct elf_table relocations = elf_relocations(pass->image);

    for (size_t i = 0; i < relocations.count; i++) {
        Elf64_Rela relocation = elf_relocation(relocations, i);
        const struct copy_word *word =
            word_at(pass->plan, relocation.r_offset, (uint64_t)relocation.r_addend);
        uint8_t *bytes;

        if (!word || ELF64_R_TYPE(relocation.r_info) != R_X86_64_RELATIVE)
            continue;
        pass->is_relocated[word - pass->plan->words] = true;
        bytes = addend(pass, relocations, i);
        if (bytes && !pass->visit(pass, word, bytes))
            return false;
    }
    return true;
}

/* All others stand in the image, where DT_RELR tells of them or where they hold as they are. */
static bool visit_words(struct pass *pass)
{
    const struct copy_plan *plan = pass->plan;

    for (size_t i = 0; i < plan->word_count; i++) {
        const struct copy_word *word = &plan->words[i];
        uint8_t *bytes = elf_at(pass->image, word->slot, sizeof(uint64_t));

        if (word->size == sizeof(uint64_t) && !pass->is_relocated[i] &&
            (!bytes || !pass->visit(pass, word, bytes)))
            return false;
    }
    return true;
}

static bool visit_all(struct pass *pass)
{
    bool is_done;

    pass->is_relocated = memory_zeroed(pass->plan->word_count, sizeof(*pass->is_relocated));
    is_done = visit_relocations(pass) && visit_words(pass);
    free(pass->is_relocated);
    return is_done;
}

static bool note(struct pass *pass, const struct copy_word *word, uint8_t *bytes)
{
    (void)word;
    return change_list_add(pass->changes, (uint64_t)(bytes - pass->image->bytes), bytes,
                           sizeof(uint64_t));
}

static bool store(struct pass *pass, const struct copy_word *word, uint8_t *bytes)
{
    uint64_t address = copy_address(pass->copies, pass->functions, word->target);

    memcpy(bytes, &address, sizeof(address));
    return true;
}

bool elf_copy_words_note(struct change_list *changes, const struct elf_growth *growth,
                         const struct copy_plan *plan, struct failure *failure)
{
    struct pass pass = {
        .image = growth->image, .plan = plan, .visit = note, .growth = growth, .changes = changes};

    return visit_all(&pass) ||
           fail(failure, growth->image->path,
                "expected its jump tables in the first 4 GB of the file, found some elsewhere");
}

void elf_copy_words_store(const struct elf_grown *grown, const struct copy_plan *plan,
                          const struct copy_set *copies, const struct function_list *functions)
{
    struct pass pass = {.image = grown->growth->image,
                        .plan = plan,
                        .visit = store,
                        .grown = grown,
                        .copies = copies,
                        .functions = functions};

    visit_all(&pass);
}
