#include "hooks/resolver.h"

#include <link.h>
#include <stdint.h>

#include "hooks/generated.h"
#include "hooks/memory.h"

#define SET_RESOLVER "_ZN2v82V832SetReturnAddressLocationResolverEPFmmE"
#define MOST_IMAGES  8

#pragma weak dl_iterate_phdr

typedef void set_resolver_fn(uint64_t (*resolver)(uint64_t location));

/*
 * What the dynamic linker looks symbols up in, DT_GNU_HASH:
 *
 *      | buckets | first symbol | bloom words | bloom shift |     4 bytes each
 *      | bloom: a word of the processor each | bucket: 4 bytes each | hash of each symbol from the
 * first on |
 *
 * A bucket has the first of the symbols that share it; the lowest bit of a hash marks the last.
 */
struct exports {
    const uint32_t *hash;
    const ElfW(Sym) * symbols;
    const char *names;
};

/* glibc has addresses there by now, musl still has them as linked, less the bias. */
static const void *pointer(const struct dl_phdr_info *image, uint64_t value)
{
    return (const void *)(uintptr_t)(value < image->dlpi_addr ? value + image->dlpi_addr : value);
}

static void read_dynamic(struct exports *exports, const struct dl_phdr_info *image,
                         const ElfW(Dyn) * dynamic)
{
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        const void *there = pointer(image, dynamic->d_un.d_ptr);

        if (dynamic->d_tag == DT_GNU_HASH)
            exports->hash = there;
        else if (dynamic->d_tag == DT_SYMTAB)
            exports->symbols = there;
        else if (dynamic->d_tag == DT_STRTAB)
            exports->names = there;
    }
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;

    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

/* Null if there is none. */
static const ElfW(Sym) * find(const struct exports *exports, const char *name)
{
    uint32_t hash = hash_of(name), bucket_count = exports->hash[0], first = exports->hash[1];
    const uint32_t *buckets = exports->hash + 4 + sizeof(uintptr_t) / 4 * exports->hash[2];
    const uint32_t *chain = buckets + bucket_count;
    uint32_t index = bucket_count ? buckets[hash % bucket_count] : 0;

    for (; index >= first && index; index++) {
        const ElfW(Sym) *symbol = &exports->symbols[index];

        if ((chain[index - first] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            text_equal(exports->names + symbol->st_name, name))
            return symbol;
        if (chain[index - first] & 1)
            break;
    }
    return NULL;
}

struct search {
    uint64_t found[MOST_IMAGES]; /* addresses of V8's function */
    uint32_t count;
};

static int look_in(struct dl_phdr_info *image, size_t size, void *with)
{
    struct search *search = with;
    struct exports exports = {0};
    const ElfW(Sym) * symbol;

    (void)size;
    for (uint32_t i = 0; i < image->dlpi_phnum; i++)
        if (image->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic(&exports, image,
                         (const void *)(image->dlpi_addr + image->dlpi_phdr[i].p_vaddr));
    if (!exports.hash || !exports.symbols || !exports.names)
        return 0;
    symbol = find(&exports, SET_RESOLVER);
    if (symbol && search->count < MOST_IMAGES)
        search->found[search->count++] = image->dlpi_addr + symbol->st_value;
    return 0;
}

bool resolver_set(void)
{
    struct search search = {0};

    if (!dl_iterate_phdr)
        return false;
    dl_iterate_phdr(look_in, &search);
    for (uint32_t i = 0; i < search.count; i++)
        ((set_resolver_fn *)(uintptr_t)search.found[i])(generated_true_location);
    return search.count > 0;
}
