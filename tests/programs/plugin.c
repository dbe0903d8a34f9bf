/* A library that is loaded and unloaded again; built twice, as two different ones. */
#include "program.h"

#ifndef PLUGIN_FACTOR
#define PLUGIN_FACTOR 1
#endif

static long calls;

COUNTED static long plugin_step(long value)
{
    calls++;
    return value * PLUGIN_FACTOR;
}

__attribute__((visibility("default"))) COUNTED long plugin_run(long value, long (*back)(long))
{
    long stepped = plugin_step(value);
    long answer = back(stepped);
    OPAQUE(answer);
    return answer + calls;
}
