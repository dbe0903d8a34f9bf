/* Between a thread that waits for the command and the event loop. */
#ifndef UMBRA_SERVICE_WINDOWS_CHILD_ENDED_H
#define UMBRA_SERVICE_WINDOWS_CHILD_ENDED_H

/* Makes it a signal_event. To be called from any thread, while signals are open. */
void signals_child_ended(void);

#endif
