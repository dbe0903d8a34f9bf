/* A process is about to give up rights, or has its own system calls filtered. */
#ifndef UMBRA_FRONT_ON_CONFINE_H
#define UMBRA_FRONT_ON_CONFINE_H

#include "front/supervisor/waiting_call.h"

/* Notes a Landlock domain (front/calls/rights.h), and refuses a seccomp filter that asks a tracer.
   Returns whether the call has been answered. */
bool on_confine(const struct waiting_call *call);

#endif
