/* A list of words, as execv takes it. */
#ifndef UMBRA_FRONT_WORDS_H
#define UMBRA_FRONT_WORDS_H

#include <stddef.h>

/* All zero is an empty one. */
struct words {
    char **list; /* ends with null once there is a word; each is owned */
    size_t count, room;
};

void words_add(struct words *words, const char *word);
__attribute__((format(printf, 2, 3))) void words_print(struct words *words, const char *format,
                                                       ...);
/* All of a list that ends with null; null is an empty one. */
void words_add_all(struct words *words, char *const *list);
/* Removes an option "--name", with its values: what is that, or begins with that and =. */
void words_drop(struct words *words, const char *option);
void words_free(struct words *words);

#endif
