/* Why a file is not taken, as a word for other programs. */
#ifndef UMBRA_REWRITER_REFUSAL_H
#define UMBRA_REWRITER_REFUSAL_H

#include "image/instrument_result.h"
#include "rewriter/base/input_file.h"

/* One that could not be opened or mapped. */
enum instrument_reason refusal_unread(const struct input_file *input);

/* One that was read, and cannot be opened as an image or is not fit: by what kind it is. */
enum instrument_reason refusal_unfit(const struct input_file *input);

#endif
