#include "rewriter/elf/write/elf_redirect.h"

#include <string.h>

#include "rewriter/patch/patch_redirect.h"

/* A word of the image that holds the address of a function. */
struct word {
    enum { WORD_DATA, WORD_RELOCATION, WORD_SYMBOL } kind; /* WORD_RELOCATION: it is the addend */
    uint64_t address;                                      /* WORD_DATA */
    size_t index;                                          /* else, within the table */
    uint64_t target;
};

typedef bool word_visitor(void *context, const struct word *word);

static bool is_function(Elf64_Sym symbol)
{
    return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS &&
           ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
}

static bool visit_symbols(const struct elf_image *image, word_visitor *visit, void *context)
{
    struct elf_table symbols = elf_dynamic_symbols(image);

    for (size_t i = 0; i < symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(symbols, i);

        if (is_function(symbol) &&
            !visit(context,
                   &(struct word){.kind = WORD_SYMBOL, .index = i, .target = symbol.st_value}))
            return false;
    }
    return true;
}

static bool visit_relocations(const struct elf_image *image, word_visitor *visit, void *context)
{
    struct elf_table relocations = elf_relocations(image);

    for (size_t i = 0; i < relocations.count; i++) {
        Elf64_Rela relocation = elf_relocation(relocations, i);

        if (ELF64_R_TYPE(relocation.r_info) == image->class->relocations.relative &&
            !visit(context,
                   &(struct word){.kind = image->class->has_addends ? WORD_RELOCATION : WORD_DATA,
                                  .address = relocation.r_offset,
                                  .index = i,
                                  .target = (uint64_t)relocation.r_addend}))
            return false;
    }
    return true;
}

struct packed {
    const struct elf_image *image;
    word_visitor *visit;
    void *context;
};

static bool visit_packed(void *context, uint64_t address)
{
    const struct packed *packed = context;
    const struct elf_class *class = packed->image->class;
    struct word word = {.kind = WORD_DATA, .address = address};
    const uint8_t *bytes = elf_at(packed->image, address, class->word);

    if (!bytes)
        return true;
    word.target = elf_word_read(class, bytes);
    return packed->visit(packed->context, &word);
}

static bool visit_words(const struct elf_image *image, word_visitor *visit, void *context)
{
    struct packed packed = {image, visit, context};

    return visit_symbols(image, visit, context) && visit_relocations(image, visit, context) &&
           elf_packed_visit(image, visit_packed, &packed);
}

static bool know(void *context, const struct word *word)
{
    struct patch_ways *ways = context;

    address_set_add(&ways->known, word->target);
    return true;
}

/* Relocations that fill in an address some other way. */
static void bar_relocations(struct patch_ways *ways, const struct elf_image *image,
                            struct elf_table relocations)
{
    struct elf_table symbols = elf_dynamic_symbols(image);
    const Elf64_Phdr *tls = elf_segment(image, PT_TLS);

    for (size_t i = 0; i < relocations.count; i++) {
        Elf64_Rela relocation = elf_relocation(relocations, i);
        size_t index = ELF64_R_SYM(relocation.r_info);
        uint64_t target = (uint64_t)relocation.r_addend;

        if (ELF64_R_TYPE(relocation.r_info) == image->class->relocations.irelative)
            address_set_add(&ways->barred, target);
        if (tls && elf_image_is_static(image) && relocation.r_offset - tls->p_vaddr < tls->p_memsz)
            address_set_add(&ways->barred, target); /* its initial content is copied */
        if (index && index < symbols.count && relocation.r_addend)
            address_set_add(&ways->barred, elf_symbol(symbols, index).st_value + target);
    }
}

static void bar_entries(struct patch_ways *ways, const struct elf_image *image)
{
    static const int64_t entries[] = {DT_INIT, DT_FINI};
    struct elf_table symbols = elf_dynamic_symbols(image);

    address_set_add(&ways->barred, image->header.e_entry);
    for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++)
        address_set_add(&ways->barred, elf_dynamic_value(image, entries[i], 0));
    for (size_t i = 0; i < symbols.count; i++)
        if (!is_function(elf_symbol(symbols, i)))
            address_set_add(&ways->barred, elf_symbol(symbols, i).st_value);
    bar_relocations(ways, image, elf_relocations(image));
    bar_relocations(ways, image, elf_plt_relocations(image));
}

void elf_redirect_plan(struct patch_plan *plan, const struct elf_code *elf,
                       const struct elf_image *image)
{
    struct patch_ways ways;

    patch_ways_init(&ways, &elf->code);
    ways.symbols = elf_dynamic_value(image, DT_SYMTAB, 0);
    ways.symbols_size = image->symbol_count * elf_record_size(image->class, ELF_SYMBOL);
    visit_words(image, know, &ways);
    bar_entries(&ways, image);
    patch_redirect(plan, &ways);
    patch_ways_free(&ways);
}

/* The redirected function at an address, or null. */
static const struct function *redirected(const struct patch_plan *plan, uint64_t address)
{
    const struct function *function = function_list_at(plan->functions, address);

    return function && function->reason == PATCH_REDIRECTED ? function : NULL;
}

static bool is_word_in_place(const struct elf_growth *growth, const struct word *word)
{
    return word->kind == WORD_DATA ||
           (word->kind == WORD_SYMBOL && elf_symbol_is_in_place(growth)) ||
           (word->kind == WORD_RELOCATION && elf_relocation_is_in_place(growth, word->index));
}

/* Where the word is in a record of the table. */
static size_t word_field(const struct elf_class *class, const struct word *word)
{
    if (word->kind == WORD_SYMBOL)
        return elf_record_field(class, ELF_SYMBOL, offsetof(Elf64_Sym, st_value));
    return elf_record_field(class, ELF_RELOCATION, offsetof(Elf64_Rela, r_addend));
}

/* Where a word is in the original's bytes. */
static const uint8_t *word_original(const struct elf_image *image, const struct word *word)
{
    const struct elf_class *class = image->class;

    if (word->kind == WORD_SYMBOL)
        return elf_dynamic_symbols(image).bytes + word->index * elf_record_size(class, ELF_SYMBOL) +
               word_field(class, word);
    if (word->kind == WORD_RELOCATION)
        return elf_relocations(image).bytes + word->index * elf_record_size(class, ELF_RELOCATION) +
               word_field(class, word);
    return elf_at(image, word->address, class->word);
}

static uint8_t *word_now(const struct elf_grown *grown, const struct word *word)
{
    const struct elf_image *image = grown->growth->image;

    if (word->kind == WORD_SYMBOL)
        return elf_grown_at(grown,
                            elf_symbol_place(grown, word->index) + word_field(image->class, word));
    if (word->kind == WORD_RELOCATION)
        return elf_grown_at(grown, elf_relocation_place(grown, word->index) +
                                       word_field(image->class, word));
    return elf_at(image, word->address, image->class->word);
}

struct noting {
    const struct elf_growth *growth;
    const struct patch_plan *plan;
    struct change_list *changes;
};

static bool note(const struct noting *noting, const uint8_t *bytes, size_t size)
{
    return change_list_add(noting->changes, (uint64_t)(bytes - noting->growth->image->bytes), bytes,
                           size);
}

static bool note_word(void *context, const struct word *word)
{
    const struct noting *noting = context;

    return !redirected(noting->plan, word->target) || !is_word_in_place(noting->growth, word) ||
           note(noting, word_original(noting->growth->image, word),
                noting->growth->image->class->word);
}

bool elf_redirect_note(struct change_list *changes, const struct elf_growth *growth,
                       const struct patch_plan *plan, struct failure *failure)
{
    const struct elf_image *image = growth->image;
    struct noting noting = {growth, plan, changes};
    bool is_noted = visit_words(image, note_word, &noting);

    for (size_t i = 0; is_noted && i < plan->redirect_count; i++)
        if (!patch_redirect_displacer(plan, &plan->redirects[i]))
            is_noted = note(&noting, elf_at(image, plan->redirects[i].field, sizeof(uint32_t)),
                            sizeof(uint32_t));
    return is_noted || fail(failure, image->path,
                            "expected what leads to its functions in the first 4 GB of the file, "
                            "found some elsewhere");
}

struct storing {
    const struct elf_grown *grown;
    const struct stub_segment *stubs;
    const struct patch_plan *plan;
};

static bool store_word(void *context, const struct word *word)
{
    const struct storing *storing = context;
    const struct function *function = redirected(storing->plan, word->target);
    uint64_t stub;

    if (!function)
        return true;
    stub = storing->stubs->address + function->stub;
    elf_word_write(storing->grown->growth->image->class, stub, word_now(storing->grown, word));
    return true;
}

static void store_field(uint8_t *bytes, uint64_t address, uint64_t target)
{
    uint32_t distance = (uint32_t)(target - (address + sizeof(distance)));

    memcpy(bytes, &distance, sizeof(distance));
}

/* In a stub, too, the distance ends what the instruction became: see stub.h. */
static void store_displaced(const struct stub_segment *stubs, const struct redirect *redirect,
                            const struct function *displacer, const struct stub_moves *moves,
                            uint64_t target)
{
    uint64_t start = displacer->address + displacer->patch_offset;
    size_t next = redirect->field + sizeof(uint32_t) - start;
    size_t field = displacer->body + moves->to[next] - sizeof(uint32_t);

    store_field(stubs->code.bytes + field, stubs->address + field, target);
}

void elf_redirect_store(const struct elf_grown *grown, const struct stub_segment *stubs,
                        const struct patch_plan *plan, const struct stub_moves *moves)
{
    const struct elf_image *image = grown->growth->image;
    struct storing storing = {grown, stubs, plan};
    const struct function *functions = plan->functions->items;

    visit_words(image, store_word, &storing);
    for (size_t i = 0; i < plan->redirect_count; i++) {
        const struct redirect *redirect = &plan->redirects[i];
        const struct function *displacer = patch_redirect_displacer(plan, redirect);
        uint64_t stub = stubs->address + functions[redirect->function].stub;

        if (displacer && moves[displacer - functions].is_copied)
            continue; /* and the copy has it */
        if (displacer)
            store_displaced(stubs, redirect, displacer, &moves[displacer - functions], stub);
        else
            store_field(elf_at(image, redirect->field, sizeof(uint32_t)), redirect->field, stub);
    }
}
