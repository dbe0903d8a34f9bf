#include "rewriter/pe/pe_code.h"

#include <stdlib.h>

#include "support/sorted.h"

const struct pe_runtime_function *pe_entry_at(const struct pe_code *pe, uint32_t rva)
{
    size_t behind = partition_point(i, pe->entry_count, pe->entries[i].start <= rva);
    const struct pe_runtime_function *entry = behind ? &pe->entries[behind - 1] : NULL;

    return entry && rva < entry->end ? entry : NULL;
}

void pe_code_add(struct pe_code *pe, uint64_t address, uint64_t size, struct function function)
{
    code_add_function(&pe->code, &pe->functions, address, size, function);
}

void pe_code_free(struct pe_code *pe)
{
    free(pe->code.ranges);
    free(pe->code.data);
    free(pe->short_names);
    for (size_t i = 0; i < pe->made_count; i++)
        free(pe->made_names[i]);
    free(pe->made_names);
    free(pe->labels);
    free(pe->entries);
    free(pe->relocated);
    code_map_free(&pe->map);
    function_list_free(&pe->functions);
}
