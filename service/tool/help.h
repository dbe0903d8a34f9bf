/* What --help prints. */
#ifndef UMBRA_SERVICE_HELP_H
#define UMBRA_SERVICE_HELP_H

extern const char help_text[];

#endif
