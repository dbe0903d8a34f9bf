/*
 * The performance code browser: a page that shows a profile beside the code it is of.
 *
 *      FILE.html                           DIR/
 *      +------------------------+          +-- index.html     the same page without data
 *      | report.html            |          +-- data.js        report_data({…})
 *      |   report.css           |          +-- s0.js          report_chunk("s0", "…")  a source
 *      |   <script> data        |          +-- d0.js          report_chunk("d0", {…})  instructions
 *      |   <script> s0, s1 … d0 |          +-- …
 *      |   model.js … keys.js   |
 *      +------------------------+
 *
 * What is shown at once is in data (data.c draws it); text of sources and instructions lies in
 * chunks that the page reads when somebody looks at them.
 */
#ifndef UMBRA_GRINDER_REPORT_WRITE_H
#define UMBRA_GRINDER_REPORT_WRITE_H

#include "grinder/report/report.h"
#include "support/failure.h"

/* Writes the page to path: a file or, with folder, a folder that is made if there is none. */
bool report_write(const struct report *report, const char *path, bool folder,
                  struct failure *failure);

#endif
