/*
 * `umbra bisect`: what makes a program fail only when it is recorded.
 *
 *      natively        the measure
 *      recorded        fails, or there is nothing to look for
 *      --leave=*       fails not, or no file is to blame
 *      files           halves of those that were instrumented: the others are left
 *      functions       of a single file: halves of those that were hooked, by a filter
 *      without         recorded once more, what was found left out: it fails no longer; or from the
 *                      files on
 *
 * Each of these searches is front of support/narrowing.h.
 */
#ifndef UMBRA_FRONT_BISECT_H
#define UMBRA_FRONT_BISECT_H

/* arguments[0] is the verb. Returns the exit status: 0 if that was found which is to be left out.
 */
int bisect_main(int count, char **arguments);

#endif
