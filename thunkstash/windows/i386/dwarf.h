#ifndef UMBRA_THUNKSTASH_WINDOWS_DWARF_H
#define UMBRA_THUNKSTASH_WINDOWS_DWARF_H

/* Tells the unwinder of DWARF's tables that has been loaded, if there is one, how to go on through the thunks in the
   range. Only at a time when the process may call Windows. */
void dwarf_tell(const char *range);

#endif
