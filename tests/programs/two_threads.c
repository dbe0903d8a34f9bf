/* Two threads, one that reads words and one that draws them: something to look at in a picture. */
#define _GNU_SOURCE
#include "program.h"

#include <pthread.h>
#include <string.h>

enum { ROUNDS = 20000 };

static const char text[] = "the quick brown fox jumps over the lazy dog";
static volatile unsigned canvas[64];

COUNTED unsigned hash(const char *word, size_t length)
{
    unsigned value = 5381;
    for (size_t i = 0; i < length; i++)
        value = value * 33 + (unsigned char)word[i];
    return value;
}

COUNTED const char *skip_blanks(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

COUNTED unsigned read_words(const char *at)
{
    unsigned sum = 0;
    for (at = skip_blanks(at); *at; at = skip_blanks(at)) {
        size_t length = strcspn(at, " ");
        sum += hash(at, length);
        at += length;
    }
    return sum;
}

COUNTED void *read_all(void *argument)
{
    unsigned sum = 0;
    pthread_setname_np(pthread_self(), "reader");
    for (int i = 0; i < ROUNDS; i++)
        sum ^= read_words(text);
    *(unsigned *)argument = sum;
    return NULL;
}

COUNTED void blend(unsigned at, unsigned colour)
{
    for (unsigned i = 0; i < 16; i++)
        canvas[(at + i) % 64] += colour * i;
}

COUNTED void draw_line(unsigned from, unsigned to)
{
    for (unsigned at = from; at != to; at++)
        blend(at, at * 7);
}

COUNTED void draw_letter(char letter)
{
    draw_line(letter, letter + 3);
    blend(letter, 1);
    OPAQUE(letter);
}

COUNTED void draw_all(void)
{
    for (int i = 0; i < ROUNDS / 40; i++)
        for (const char *at = text; *at; at++)
            draw_letter(*at);
}

int main(void)
{
    unsigned sum;
    pthread_t reader;
    pthread_create(&reader, NULL, read_all, &sum);
    draw_all();
    pthread_join(reader, NULL);
    printf("%u %u\n", sum, canvas[7]);
    return 0;
}
