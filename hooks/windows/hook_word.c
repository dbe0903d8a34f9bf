#include "hooks/hook_word.h"

const void *hook_word_place(const void *page)
{
    return page;
}

void hook_words_begin(void *entry)
{
    (void)entry;
}

void hook_word_bind(struct image_header *image, void *hook)
{
    __atomic_store_n(&image->entry_hook, (uintptr_t)hook, __ATOMIC_RELEASE);
}

void hook_words_begin_in_child(void)
{
}
