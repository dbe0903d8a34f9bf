/* Instructions that keep the vector registers in memory: there are eight vector registers, and the area is the same. */
#ifndef UMBRA_THUNKSTASH_WINDOWS_SAVE_AREA_H
#define UMBRA_THUNKSTASH_WINDOWS_SAVE_AREA_H

#define FXSAVE  "fxsave"
#define FXRSTOR "fxrstor"
#define XSAVE   "xsave"
#define XRSTOR  "xrstor"

#endif
