/* The stash's range of addresses, and what Windows is told of it. */
#ifndef UMBRA_THUNKSTASH_WINDOWS_RANGE_H
#define UMBRA_THUNKSTASH_WINDOWS_RANGE_H

/* Reserves the range, and, on x86-64, registers how to unwind through its thunks. To be called once, at a
   time when the process may call Windows. Null: there is no room. */
char *range_reserve(void);

/* For pages_map_block: on x86-64, a section of the agent's own file. image: where the agent is loaded.
   Null: its file cannot be opened for execution. */
void *range_open_code(const char *image);

#endif
