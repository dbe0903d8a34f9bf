/* Instructions that keep the vector registers in memory: all 64 bits of where the x87 has been are kept. */
#ifndef UMBRA_THUNKSTASH_WINDOWS_SAVE_AREA_H
#define UMBRA_THUNKSTASH_WINDOWS_SAVE_AREA_H

#define FXSAVE  "fxsave64"
#define FXRSTOR "fxrstor64"
#define XSAVE   "xsave64"
#define XRSTOR  "xrstor64"

#endif
