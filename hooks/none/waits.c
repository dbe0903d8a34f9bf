/* System calls are not timed: there are no copies. */
#include "hooks/waits.h"

void waits_look(struct thread *thread)
{
    (void)thread;
}
