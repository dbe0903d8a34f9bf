#ifndef UMBRA_THUNKSTASH_THUNKS_H
#define UMBRA_THUNKSTASH_THUNKS_H

/* Writes the thunks of a block that can be written: as thunk_layout.h draws them. */
void thunks_write(char *block);

#endif
