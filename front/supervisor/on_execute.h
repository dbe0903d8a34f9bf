/* A program is about to be executed. */
#ifndef UMBRA_FRONT_ON_EXECUTE_H
#define UMBRA_FRONT_ON_EXECUTE_H

#include "front/supervisor/waiting_call.h"

/* Instruments it, and the interpreter of a script. The call is to go on. */
void on_execute(const struct waiting_call *call);

#endif
