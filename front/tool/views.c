#include "front/tool/views.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/base/tools.h"
#include "front/files/below.h"
#include "front/recording/meeting_place.h"
#include "front/recording/recording.h"
#include "front/tool/options.h"
#include "support/memory.h"
#include "support/whole_file.h"

#define MOST_RECORDINGS 256
#define SIDES           2 /* of a diff */

/* What is no recording and none of ours is the grinder's option. */
struct asked {
    const char *recordings[MOST_RECORDINGS];
    size_t count, most;
    struct words options;
    const char *mode, *format, *output; /* what the grinder's options say; null: nothing */
    const char *again; /* a second recording of a diff's first build; null: there is none */
    bool is_text, is_split;
    bool has_times;         /* of another recording */
    bool chooses_processes; /* or takes all of them together */
};

static const char *value_of(const char *word, const char *option)
{
    size_t length = strlen(option);

    return !strncmp(word, option, length) && word[length] == '=' ? word + length + 1 : NULL;
}

static _Noreturn void refuse_another(const char *verb, size_t most, const char *name)
{
    say_and_exit(STATUS_USAGE,
                 "%s: expected %zu recording%s at most, found another: %s; an option's value "
                 "stands behind =",
                 verb, most, most == 1 ? "" : "s", name);
}

static void take_recording(struct asked *asked, const char *verb, const char *name)
{
    if (asked->count >= asked->most)
        refuse_another(verb, asked->most, name);
    asked->recordings[asked->count++] = name;
}

/* A recording stands for its traces. */
static void take_times(struct asked *asked, const char *name)
{
    char *traces = memory_print("%s/traces", name);

    words_print(&asked->options, "--times-from=%s", access(traces, F_OK) == 0 ? traces : name);
    asked->has_times = true;
    free(traces);
}

static void take_option(struct asked *asked, const char *word)
{
    const char *value;

    if (!strcmp(word, "--no-config")) /* it was heeded before */
        return;
    if (!strcmp(word, "--verbose")) {
        say_commands();
        words_add(&asked->options, word);
        return;
    }
    if (!strcmp(word, "--text")) {
        asked->is_text = true;
        return;
    }
    if (value_of(word, "--process") || !strncmp(word, "--merge", 7))
        asked->chooses_processes = true;
    if ((value = value_of(word, "--times-from"))) {
        take_times(asked, value);
        return;
    }
    if ((value = value_of(word, "--again"))) {
        asked->again = value;
        return;
    }
    if (!strcmp(word, "--split"))
        asked->is_split = true;
    else if ((value = value_of(word, "--mode")))
        asked->mode = value;
    else if ((value = value_of(word, "--output-format")))
        asked->format = value;
    else if ((value = value_of(word, "--output-file")))
        asked->output = value;
    words_add(&asked->options, word);
}

/* A letter: what perf, or another verb, has under it. Returns the last word of it. */
static char **take_letter(struct asked *asked, const char *verb, char **arguments)
{
    char letter = arguments[0][1];
    char *value = arguments[0] + 2, *option;

    if (strchr("qv", letter) && !*value) {
        take_option(asked, letter == 'q' ? "--quiet" : "--verbose");
        return arguments;
    }
    if (letter == 'g' && !*value) /* who calls whom is always there */
        return arguments;
    if (letter == 'p')
        say_and_exit(
            STATUS_USAGE,
            "%s: -p: expected a recording: umbra record -- PROGRAM makes one, of what runs "
            "already umbra record -p PID; --process=PID chooses one of its processes",
            verb);
    if (!strchr("oi", letter))
        verb_refuse_option(verb_named(verb), arguments[0]);
    if (!*value)
        value = *++arguments;
    if (!value)
        say_and_exit(STATUS_USAGE, "%s: -%c: expected a path behind it, found none", verb, letter);
    if (letter == 'i') {
        take_recording(asked, verb, value);
        return arguments;
    }
    option = memory_print("--output-file=%s", value);
    take_option(asked, option);
    return arguments;
}

static void read_arguments(struct asked *asked, size_t most, char **arguments)
{
    const char *verb = *arguments++;
    bool is_option = true;

    *asked = (struct asked){.most = most};
    for (; *arguments; arguments++) {
        if (is_option && !strcmp(*arguments, "--"))
            is_option = false;
        else if (is_option && !strncmp(*arguments, "--", 2))
            take_option(asked, *arguments);
        else if (is_option && **arguments == '-' && arguments[0][1])
            arguments = take_letter(asked, verb, arguments);
        else
            take_recording(asked, verb, *arguments);
    }
}

static const char *recording_or_default(const struct asked *asked)
{
    return asked->count ? asked->recordings[0] : RECORDING_DEFAULT;
}

static void add_traces(struct words *words, const struct recording *recording)
{
    const char *separator = ": ";
    char *why;

    if (!recording_count_processes(recording)) {
        why = recording_value(recording, "why");
        if (!why)
            separator = "; what was left as it is, and why: umbra ls --left ";
        say_and_exit(STATUS_FAILED, "%s: no process was recorded%s%s", recording->name, separator,
                     why ? why : say_quoted(recording->name));
    }
    words_print(words, "%s/traces", recording->folder);
}

static int become(struct words *words)
{
    tool_become(words->list);
    say("%s: cannot be run: %s", words->list[0], strerror(errno));
    return STATUS_FAILED;
}

/* --- report --- */

/* A desktop session is there, and somebody who looks. */
static bool can_be_shown(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

    return isatty(STDOUT_FILENO) && ((x && *x) || (wayland && *wayland));
}

static void show(const char *page)
{
    char *const command[] = {"/usr/bin/xdg-open", (char *)page, NULL};
    char ignored[1024];

    if (can_be_shown() && access(command[0], X_OK) == 0)
        tool_run_silently(command, ignored, sizeof(ignored));
}

#define PAGE "report.html"

static void show_page(const char *page)
{
    printf("%s\n", page);
    fflush(stdout);
    show(page);
}

/* Writes the page where the user says. */
static int write_page_to(struct words *words, const char *page)
{
    struct stat before = {0}, after;
    int status;

    stat(page, &before);
    status = tool_run(words->list);
    /* Though a trace is damaged, there may be a page: another file, or for a large program a
     * folder. */
    if (strcmp(page, "-") != 0 && stat(page, &after) == 0 &&
        (status == 0 || (S_ISREG(after.st_mode) && after.st_ino != before.st_ino)))
        show_page(page);
    return status;
}

static void say_unwritten(const char *page)
{
    say("%s: cannot be written: %s", page, strerror(errno));
}

/* In the recording, which may be another user's: what is there is replaced, and never written to.
 */
static int write_page_in(struct words *words, const struct recording *recording, const char *page)
{
    struct whole_file file;
    int status;

    if (whole_file_begin_in(&file, recording->directory, PAGE, 0600) < 0) {
        say_unwritten(page);
        return STATUS_FAILED;
    }
    status = tool_run_to(words->list, file.fd);
    if (status != 0) {
        whole_file_abandon(&file);
    } else if (whole_file_commit(&file) == 0) {
        show_page(page);
    } else {
        say_unwritten(page);
        status = STATUS_FAILED;
    }
    close(file.fd);
    return status;
}

/* A folder in the recording, that is this user's. Returns its descriptor, or -1 with errno. */
static int open_folder_of_pages(const struct recording *recording)
{
    struct stat status;
    int folder;

    mkdirat(recording->directory, PAGE, 0700);
    folder = below_open(recording->directory, PAGE, O_RDONLY | O_DIRECTORY, 0);
    if (folder >= 0 && fstat(folder, &status) == 0 && status.st_uid == geteuid())
        return folder;
    if (folder >= 0) {
        close(folder);
        errno = EPERM;
    }
    return -1;
}

static int write_pages_in(struct words *words, const struct recording *recording, const char *page)
{
    int folder = open_folder_of_pages(recording);
    int status;

    if (folder < 0) {
        say_unwritten(page);
        return STATUS_FAILED;
    }
    fcntl(folder, F_SETFD, 0);
    words_print(words, "--output-file=/proc/self/fd/%d/", folder);
    status = tool_run(words->list);
    close(folder);
    if (status == 0)
        show_page(page);
    return status;
}

static int write_page(struct words *words, const struct recording *recording,
                      const struct asked *asked)
{
    char *page = memory_print("%s/" PAGE, recording->name);
    int status;

    add_traces(words, recording);
    if (asked->output) {
        status = write_page_to(words, asked->output);
    } else if (asked->is_split) {
        status = write_pages_in(words, recording, page);
    } else {
        words_add(words, "--output-file=-");
        status = write_page_in(words, recording, page);
    }
    free(page);
    return status;
}

/* --- a profile in another format --- */

/* The suffixes are those of grinder/formats/format.c. */
static const struct suffix {
    const char *format, *suffix;
} suffixes[] = {
    {"folded", "folded"},     {"flamegraph", "svg"},
    {"pprof", "pb.gz"},       {"speedscope", "speedscope.json"},
    {"tsv", "tsv"},           {"tsv-edges", "edges.tsv"},
    {"json", "json"},         {"chrome", "trace.json"},
    {"perfetto", "pftrace"},  {"firefox", "firefox.json"},
    {"baseline", "baseline"},
};

/* In the recording; to be freed. A name that the grinder does not know it refuses itself. */
static char *profile_name(const char *format)
{
    if (!format || !strcmp(format, "callgrind"))
        return memory_copy_string("callgrind.out");
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
        if (!strcmp(suffixes[i].format, format))
            return memory_print("profile.%s", suffixes[i].suffix);
    return memory_print("profile.%s", "out");
}

/* Says where it is, if the grinder has written it. There is one file for each thread with --split.
 */
static int write_profile_to(struct words *words, const char *path, const char *shown, bool is_split)
{
    char *first = memory_print("%s%s", path, is_split ? "-01" : "");
    struct stat before = {0}, after;
    int status;

    stat(first, &before);
    status = tool_run(words->list);
    if (stat(first, &after) == 0 && (S_ISREG(after.st_mode) && after.st_ino != before.st_ino))
        printf("%s%s\n", shown, is_split ? "-*" : "");
    free(first);
    return status;
}

/* What somebody else may change is not written into. */
static bool is_own(const struct recording *recording)
{
    struct stat status;

    return fstat(recording->directory, &status) == 0 && status.st_uid == geteuid();
}

static int write_profile(struct words *words, const struct recording *recording,
                         const struct asked *asked)
{
    char *name = profile_name(asked->format), *path, *shown;
    int status;

    if (asked->output && !strcmp(asked->output, "-"))
        return add_traces(words, recording), become(words);
    if (!asked->output && !is_own(recording))
        say_and_exit(STATUS_FAILED, "%s: is another user's; say where to write: -o FILE, or -o -",
                     recording->name);
    if (!asked->output) {
        fcntl(recording->directory, F_SETFD, 0);
        path = memory_print("/proc/self/fd/%d/%s", recording->directory, name);
        shown = memory_print("%s/%s", recording->name, name);
        words_print(words, "--output-file=%s", path);
    } else {
        path = memory_copy_string(asked->output);
        shown = memory_copy_string(asked->output);
    }
    add_traces(words, recording);
    status = write_profile_to(words, path, shown, asked->is_split);
    free(path);
    free(shown);
    free(name);
    return status;
}

/* The keeper writes what there is every five seconds, or less often. */
static void tell_if_it_goes_on(const struct recording *recording)
{
    char *status = recording_value(recording, "status"), *quoted = say_quoted(recording->name);

    if (!status && recording_goes_on(recording))
        say("%s: is still being recorded; this is how it was some seconds ago, and umbra top %s "
            "shows it as it is",
            recording->name, quoted);
    free(quoted);
    free(status);
}

/* Times of a second run go with what is by function or edge. */
static void add_times(struct words *words, const struct recording *recording,
                      const struct asked *asked, const char *mode)
{
    static const char *const formats[] = {"callgrind", "tsv", "tsv-edges", "json"};
    bool fits = !asked->format;

    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats) && !fits; i++)
        fits = !strcmp(asked->format, formats[i]);
    if (strcmp(mode, "report") != 0 && strcmp(mode, "summary") != 0 && strcmp(mode, "profile") != 0)
        fits = false;
    if (fits && !asked->has_times && !asked->is_split && recording_has_times(recording))
        words_print(words, "--times-from=%s/" RECORDING_TIMES, recording->folder);
}

/* Recordings whose blocks add up. */
static int show_coverage(const struct asked *asked)
{
    struct words words = {0}, traces = {0};

    words_add(&words, tools_find()->grinder);
    for (size_t i = 0; i < asked->count; i++) {
        struct recording recording;

        recording_open(&recording, asked->recordings[i]);
        tell_if_it_goes_on(&recording);
        recording_add_path_maps(&recording, &words);
        add_traces(&traces, &recording);
    }
    words_add_all(&words, asked->options.list);
    words_add_all(&words, traces.list);
    return become(&words);
}

int report_main(int count, char **arguments)
{
    struct recording recording;
    struct words words = {0};
    struct asked asked;
    const char *mode;

    (void)count;
    read_arguments(&asked, MOST_RECORDINGS, arguments);
    if (asked.count > 1 && asked.mode && !strcmp(asked.mode, "coverage"))
        return show_coverage(&asked);
    if (asked.count > 1)
        refuse_another("report", 1, asked.recordings[1]);
    if (asked.is_text && (asked.mode || asked.format))
        say_and_exit(STATUS_USAGE,
                     "report: --text stands for --mode=summary; give one of them, and "
                     "no --output-format");
    if (asked.format && !asked.mode && !strcmp(asked.format, "text"))
        say_and_exit(STATUS_USAGE,
                     "report: --output-format=text: expected a profile for another program, or "
                     "umbra report --text, which prints the summary");
    recording_open(&recording, recording_or_default(&asked));
    tell_if_it_goes_on(&recording);
    mode = asked.mode      ? asked.mode
           : asked.is_text ? "summary"
           : asked.format  ? "profile"
                           : "report";
    words_add(&words, tools_find()->grinder);
    if (!asked.mode)
        words_print(&words, "--mode=%s", mode);
    if (!asked.chooses_processes && (!strcmp(mode, "report") || !strcmp(mode, "summary")))
        words_add(&words, "--largest");
    add_times(&words, &recording, &asked, mode);
    recording_add_path_maps(&recording, &words);
    words_add_all(&words, asked.options.list);
    if (!strcmp(mode, "report"))
        return write_page(&words, &recording, &asked);
    if (!strcmp(mode, "profile"))
        return write_profile(&words, &recording, &asked);
    add_traces(&words, &recording);
    return become(&words);
}

/* --- top --- */

/* The grinder has them, too, but call_trace_service gives them itself. */
static bool is_of_service(const char *option)
{
    return value_of(option, "--interval") || value_of(option, "--count") ||
           !strcmp(option, "--once");
}

static void require_service(const struct recording *recording, const char *instance)
{
    char *option = memory_print("--instance-id=%s", instance);
    char *const command[] = {tools_find()->service, "status", option, NULL};
    char ignored[1024];

    if (tool_run_silently(command, ignored, sizeof(ignored)) != 0)
        say_and_exit(STATUS_FAILED,
                     "%s: none of its programs runs any more; to see it: umbra report %s",
                     recording->name, say_quoted(recording->name));
    free(option);
}

int top_main(int count, char **arguments)
{
    struct recording recording;
    struct words words = {0}, of_grinder = {0};
    struct asked asked;
    char *instance;

    (void)count;
    read_arguments(&asked, 1, arguments);
    recording_open(&recording, recording_or_default(&asked));
    instance = recording_value(&recording, "instance");
    meeting_place_find(&recording);
    require_service(&recording, instance ? instance : "default");
    words_add(&words, tools_find()->service);
    words_add(&words, "top");
    words_print(&words, "--instance-id=%s", instance ? instance : "default");
    for (size_t i = 0; i < asked.options.count; i++)
        words_add(is_of_service(asked.options.list[i]) ? &words : &of_grinder,
                  asked.options.list[i]);
    recording_add_path_maps(&recording, &of_grinder);
    if (is_own(&recording))
        recording_add_coming_path_map(&recording, &of_grinder);
    if (of_grinder.count)
        words_add(&words, "--");
    words_add_all(&words, of_grinder.list);
    return become(&words);
}

/* --- diff --- */

/* A text that --output-format=baseline has written, most likely: a recording is a folder. */
static bool is_file(const char *name)
{
    struct stat status;

    return stat(name, &status) == 0 && S_ISREG(status.st_mode);
}

/* A second recording of the first build, or a baseline. */
static void add_again(struct words *words, const char *name)
{
    struct recording recording;

    if (is_file(name)) {
        words_print(words, "--again=%s", name);
        return;
    }
    recording_open(&recording, name);
    recording_add_path_maps(&recording, words);
    words_print(words, "--again=%s/traces", recording.folder);
}

int diff_main(int count, char **arguments)
{
    struct recording recordings[SIDES];
    struct words words = {0};
    struct asked asked;
    size_t first = 0; /* that is a recording */

    (void)count;
    read_arguments(&asked, SIDES, arguments);
    if (asked.count == 1)
        say_and_exit(STATUS_USAGE, "diff: expected two recordings, found one: umbra diff BEFORE "
                                   "AFTER; without any, it is " RECORDING_DEFAULT RECORDING_OLD
                                   " and " RECORDING_DEFAULT);
    if (asked.count && is_file(asked.recordings[0]))
        first = 1;
    else
        recording_open(&recordings[0],
                       asked.count ? asked.recordings[0] : RECORDING_DEFAULT RECORDING_OLD);
    recording_open(&recordings[1], asked.count ? asked.recordings[1] : RECORDING_DEFAULT);
    words_add(&words, tools_find()->grinder);
    words_add(&words, "--mode=diff");
    for (size_t i = first; i < SIDES; i++)
        recording_add_path_maps(&recordings[i], &words);
    if (asked.again)
        add_again(&words, asked.again);
    words_add_all(&words, asked.options.list);
    if (first)
        words_add(&words, asked.recordings[0]);
    for (size_t i = first; i < SIDES; i++)
        add_traces(&words, &recordings[i]);
    return become(&words);
}
