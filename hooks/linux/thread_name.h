#ifndef UMBRA_HOOKS_LINUX_THREAD_NAME_H
#define UMBRA_HOOKS_LINUX_THREAD_NAME_H

#include <stddef.h>
#include <stdint.h>

/* The name that the kernel shows for a thread of this process; left alone if it is gone. */
void thread_name_read(uint32_t tid, char *name, size_t size);

#endif
