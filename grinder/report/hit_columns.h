/*
 * Samples one by one, as a page holds them: columns of numbers, each column a string.
 *
 *      { "at":      µs since the sample before, of the first since slices begin; ascending
 *        "stack":   where it was, as the difference from the sample before: 1, -1, 2 as 2, 1, 4; stack 0 is none
 *        "spot":    which instruction it met, by its place among those of its function: its stack's
 *        "ns":      time that it stands for: µs more than usual, as 1, -1, 2 again; empty if all are usual
 *        "usual":   ns, a number
 *        "up", "function":          of each stack from 1 on, callees behind their callers
 *        "offset", "file", "line":  of each spot, ascending by function; offset is one more than that from the
 *                                   entry, 0: not known, as of code beside its function
 *        "inlined": of each spot: the innermost inlined call that it is in, from 1 on; 0: none; empty if all are 0
 *        "outer", "name":           of each inlined call: the one that it is within, which has a lower number,
 *                                   or 0; and the function, by its place in
 *        "names":   an array of texts }
 *
 *      stack     1 main     2 parse     3 lex     4 print          up: how many frames of the stack before
 *      up        0          0           0         2                are not in it
 *
 * A number is one or more digits of 5 bits, the lowest first. Each is one of the 64 characters that bars are
 * made of, from 32 on if another digit follows:
 *
 *      A = 0     B = 1     f = 31     gB = 32     hC = 1 + 2 * 32     oof = 8 + 8 * 32 + 31 * 32 * 32
 *
 * Only stacks and spots with samples are there; each spot has one. A sample of a program of many functions has
 * some 9 bytes with all of these, of one of few 5 or 6 (gcc, 123,363 samples; a loop).
 */
#ifndef UMBRA_GRINDER_REPORT_HIT_COLUMNS_H
#define UMBRA_GRINDER_REPORT_HIT_COLUMNS_H

#include "grinder/report/files.h"

/* If there are more samples, a page has every 2nd, 4th, …, which then stands for those left out, too. */
#define HIT_LIMIT 400000u

/* Writes the samples of a part; null if it has none, or functions were selected, or times are another recording's. */
void hit_columns_write(FILE *stream, const struct report *report, const struct report_files *files,
                       const struct part *part);

#endif
