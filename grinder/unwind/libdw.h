/*
 * elfutils' libdw, loaded when it is needed: its dwarf_ functions have names of libdwarf's, which the grinder
 * is linked with, so that only one of the two can be. libdw calls some of them through its PLT, where it would get
 * libdwarf's: what reads lines or DIEs (dwfl_module_getsrc) crashes here. What follows stacks does not.
 */
#ifndef UMBRA_GRINDER_LIBDW_H
#define UMBRA_GRINDER_LIBDW_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

#include "support/failure.h"

#define LIBDW_FUNCTIONS(each)                                                                      \
    each(dwfl_begin) each(dwfl_end) each(dwfl_report_begin_add) each(dwfl_report_elf)              \
    each(dwfl_report_end) each(dwfl_attach_state) each(dwfl_getthread_frames) each(dwfl_frame_pc)  \
    each(dwfl_frame_reg) each(dwfl_thread_state_registers) each(dwfl_offline_section_address)

struct libdw {
#define LIBDW_MEMBER(name) __typeof__(&(name)) name;
    LIBDW_FUNCTIONS(LIBDW_MEMBER)
#undef LIBDW_MEMBER
};

/* False: it is not there, or too old (before elfutils 0.188). */
bool libdw_load(struct libdw *libdw, struct failure *failure);

#endif
