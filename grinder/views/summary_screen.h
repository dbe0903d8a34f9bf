/*
 * The summary as people read it on a terminal: the hottest functions first, figures with units and no
 * more digits than mean something (figures.h), no line longer than the terminal is wide.
 *
 *      process 4711: lua5.4 words.lua
 *      1.10 s wall, 688 ms CPU, 175 M calls, 1 thread
 *
 *      Hottest functions by self time (CPU)
 *          self  self%  incl%     calls    a call  function
 *        130 ms    19%    99%   336,240    400 ns  lua5.4!0x1b3a0
 *      < 3.9 ms <0.57%    99%         4  < 960 us  lua5.4!0x7650
 *
 *      by inclusive time, by time waited; other processes, threads, modules, details
 */
#ifndef UMBRA_GRINDER_SUMMARY_SCREEN_H
#define UMBRA_GRINDER_SUMMARY_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "grinder/views/summary.h"
#include "grinder/views/terminal.h"

#define SUMMARY_SCREEN_TOP 12 /* rows of a table: two of them fit on 40 lines */

/* False, after summary->say was told, if the events of a call-trace recording do not balance. */
bool summary_screen_write(FILE *stream, const struct summary *summary,
                          const struct terminal *terminal);

#endif
