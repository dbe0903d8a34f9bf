#include "grinder/report/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/utf8.h"

/* assemble.py, assets.S */
extern const char report_page[];

static const char local_mark[] = "<!--LOCAL-->", data_mark[] = "<!--DATA-->";

/* Its scripts, from wherever it lies: a file's page is of no origin, so 'self' is not enough. */
static const char folder_policy[] = " 'self' file:";

/* The page up to mark, and how it goes on behind it. */
static const char *write_up_to(FILE *stream, const char *from, const char *mark)
{
    const char *end = strstr(from, mark);

    fwrite(from, 1, (size_t)(end - from), stream);
    return end + strlen(mark);
}

static void write_head(FILE *stream, bool folder)
{
    const char *rest = write_up_to(stream, report_page, local_mark);

    fputs(folder ? folder_policy : "", stream);
    write_up_to(stream, rest, data_mark);
}

static void write_tail(FILE *stream)
{
    fputs(strstr(report_page, data_mark) + strlen(data_mark), stream);
}

static bool open_file(struct page *page, const char *name, struct failure *failure)
{
    int length = page->folder ? snprintf(page->file, sizeof(page->file), "%s/%s", page->path, name)
                              : snprintf(page->file, sizeof(page->file), "%s", page->path);

    if (length < 0 || (size_t)length >= sizeof(page->file))
        return fail(failure, page->path, "cannot be written: %s", strerror(ENAMETOOLONG));
    return output_open_private(&page->output, page->file, failure);
}

bool page_begin(struct page *page, const char *path, bool folder, struct failure *failure)
{
    *page = (struct page){.path = path, .folder = folder};
    if (folder) {
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            return fail(failure, path, "cannot be made: %s", strerror(errno));
        return true;
    }
    if (!open_file(page, NULL, failure))
        return false;
    write_head(page->output.stream, false);
    return true;
}

bool page_has_room(const struct page *page, uint64_t size)
{
    uint64_t limit = page->folder ? PAGE_FOLDER_LIMIT : PAGE_TEXT_LIMIT;

    return page->text <= limit && size <= limit - page->text;
}

FILE *page_begin_chunk(struct page *page, const char *name)
{
    char file[64];

    if (page->failed)
        return NULL;
    if (!page->folder) {
        fprintf(page->output.stream, "<script type=\"application/json\" id=\"%s\">", name);
        return page->output.stream;
    }
    snprintf(file, sizeof(file), "%s.js", name);
    if (!open_file(page, file, &page->failure)) {
        page->failed = true;
        return NULL;
    }
    fprintf(page->output.stream, "report_chunk(\"%s\",", name);
    return page->output.stream;
}

void page_end_chunk(struct page *page)
{
    fputs(page->folder ? ");\n" : "</script>\n", page->output.stream);
    if (page->folder && !output_commit(&page->output, &page->failure))
        page->failed = true;
}

/* The folder's page comes last: it is there when all it asks for is. */
bool page_end(struct page *page, struct failure *failure)
{
    if (page->failed) {
        *failure = page->failure;
        return false;
    }
    if (page->folder) {
        if (!open_file(page, "index.html", failure))
            return false;
        write_head(page->output.stream, true);
        fputs("<script src=\"data.js\"></script>\n", page->output.stream);
    }
    write_tail(page->output.stream);
    return output_commit(&page->output, failure);
}

static void write_character(FILE *stream, uint32_t c)
{
    if (c == '"' || c == '\\')
        fprintf(stream, "\\%c", (char)c);
    else if (c == '\n')
        fputs("\\n", stream);
    else if (c == '\t')
        fputs("\\t", stream);
    else if (c < 0x20 || c == '<' || c == 0x2028 || c == 0x2029)
        fprintf(stream, "\\u%04x", c);
    else
        utf8_write(stream, c);
}

/* text has a zero behind its length bytes, and may have others among them. */
void page_write_string(FILE *stream, const char *text, size_t length)
{
    const char *end = text + length;

    putc('"', stream);
    while (text < end) {
        if (*text == '\n' || *text == '\t') {
            write_character(stream, (unsigned char)*text++);
        } else if (!*text) {
            write_character(stream, UTF8_REPLACEMENT);
            text++;
        } else {
            write_character(stream, utf8_next(&text));
        }
    }
    putc('"', stream);
}

void page_write_text(FILE *stream, const char *text)
{
    page_write_string(stream, text, strlen(text));
}
