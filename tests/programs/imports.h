/* What imported.c exports to imports.c. */
#define LARGE_COUNT 12

struct large {
    long numbers[LARGE_COUNT];
};

struct large large_make(int first);
double sum_of(int count, ...);
int call_back(int (*function)(int), int depth);
