/* What the stash's blocks are mapped from (thunkstash/pages.h). */
#ifndef UMBRA_HOOKS_LINUX_THUNK_CODE_H
#define UMBRA_HOOKS_LINUX_THUNK_CODE_H

/* Null: there is none. */
void *thunk_code(void);

#endif
