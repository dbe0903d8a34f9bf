#include "grinder/views/summary_layout.h"

#include <stdlib.h>

#include "grinder/views/fit.h"

#define NORMAL "\033[0m"

void layout_write_in(const struct summary_layout *layout, const char *colour, const char *text)
{
    if (layout->has_colour)
        fprintf(layout->stream, "%s%s" NORMAL, colour, text);
    else
        fputs(text, layout->stream);
}

void layout_write_heading(const struct summary_layout *layout, const char *heading)
{
    char *cut = fit_cut(heading, layout->columns, layout->ellipsis);

    putc('\n', layout->stream);
    layout_write_in(layout, LAYOUT_BOLD, cut);
    putc('\n', layout->stream);
    free(cut);
}

/* What is left of the line for text; ends it. */
void layout_write_rest(const struct summary_layout *layout, size_t used, const char *text)
{
    char *cut =
        fit_cut(text, layout->columns > used ? layout->columns - used : 1, layout->ellipsis);

    fprintf(layout->stream, "%s\n", cut);
    free(cut);
}

/* Puts the time of a process or a thread: samples come at fixed intervals, so that as much as one
   of them is not known. */
void layout_put_total(char text[FIGURE_ROOM], const struct summary_layout *layout, uint64_t ns)
{
    const struct part *part = layout->part;
    double one = layout->is_sampled && part->samples ? (double)part->ns / (double)part->samples : 0;
    struct figure figure = figure_exact((double)ns);

    figure.low -= one;
    figure.high += one;
    if (layout->is_sampled && !ns)
        figure_time_below(text, one);
    else
        figure_time(text, figure);
}
