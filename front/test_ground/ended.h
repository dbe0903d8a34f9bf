/* For tests: what a function says that ends the process, and its exit status. */
#ifndef UMBRA_FRONT_ENDED_H
#define UMBRA_FRONT_ENDED_H

struct ended {
    int status;      /* 0 if the function returned */
    char said[4096]; /* by standard output and standard error */
};

/* Calls it in a child. A child that a signal ends fails the test. */
struct ended ended_by(void (*run)(void *argument), void *argument);

#endif
