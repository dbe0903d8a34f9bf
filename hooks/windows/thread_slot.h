#ifndef UMBRA_HOOKS_WINDOWS_THREAD_SLOT_H
#define UMBRA_HOOKS_WINDOWS_THREAD_SLOT_H

#include <stdbool.h>

/* False: all slots that lie in the thread's environment block are taken. */
bool thread_slot_prepare(void);

/* In a thread that ends. */
void thread_slot_detach(void);

#endif
