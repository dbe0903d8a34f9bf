/* The thread's environment block. teb_words.h, one a processor, has where its fields are, and how they are read. */
#ifndef UMBRA_THUNKSTASH_WINDOWS_TEB_H
#define UMBRA_THUNKSTASH_WINDOWS_TEB_H

#include "teb_words.h"

#endif
