#include "rewriter/elf/write/elf_probe_moves.h"

#include <string.h>

#include "rewriter/copy/copy_resolve.h"

bool elf_probes_note_moves(struct change_list *changes, const struct elf_probes *probes,
                           const struct elf_image *image, const struct function_list *functions,
                           const struct copy_plan *plan, struct failure *failure)
{
    for (size_t i = 0; i < probes->count; i++) {
        const struct elf_probe *probe = &probes->items[i];
        const struct function *function = function_list_owner(functions, probe->address);

        if (function && copy_plan_has(plan, (size_t)(function - functions->items)) &&
            !change_list_add(changes, probe->field, image->bytes + probe->field, sizeof(uint64_t)))
            return fail(failure, image->path,
                        "expected its notes of probes in the first 4 GB of the file, found %#llx",
                        (unsigned long long)probe->field);
    }
    return true;
}

void elf_probes_move(const struct elf_probes *probes, const struct elf_image *image,
                     const struct function_list *functions, const struct copy_set *copies)
{
    for (size_t i = 0; i < probes->count; i++) {
        const struct elf_probe *probe = &probes->items[i];
        uint64_t copied = copy_address(copies, functions, probe->address);
        uint64_t pc = copied - probe->moved;

        if (copied)
            memcpy(image->bytes + probe->field, &pc, sizeof(pc));
    }
}
