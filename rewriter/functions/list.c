#include "rewriter/functions/list.h"

#include "rewriter/base/say.h"
#include "rewriter/functions/function_list.h"
#include "support/utf8.h"

#include <inttypes.h>
#include <stdio.h>

void list_header(void)
{
    puts("address\tsize\tstate\thow\tname");
}

void list_function(uint64_t address, uint64_t size, uint8_t reason, const char *name,
                   bool is_import)
{
    printf("%#" PRIx64 "\t%" PRIu64 "\t%s\t%s\t", address, size,
           patch_reason_is_hooked(reason) ? "hooked" : "skipped", patch_reason_word(reason));
    if (name)
        utf8_write_plain(stdout, name);
    if (is_import)
        fputs("@plt", stdout);
    putchar('\n');
    say_check_stdout();
}
