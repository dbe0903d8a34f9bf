#!/bin/bash
# call_trace_service attach: libraries that the program loads afterwards get hooks, too; those that it closes take
# theirs along, and what is loaded in their place is whole when the hooks go.
# needs: gcc g++
# seconds: 20
. "$(dirname "$0")/lib.sh"
. "$TESTS/attached.sh"

for name in one two; do
    cat >$name.c <<END
__attribute__((noipa)) long ${name}_fib(long n)
{
    return n < 2 ? n : ${name}_fib(n - 1) + ${name}_fib(n - 2);
}

long call(void)
{
    return ${name}_fib(10);
}
END
    gcc -O1 -g -shared -fPIC $name.c -o lib$name.so
done
# Throws, in a program that has no libgcc at first.
cat >throws.cpp <<'END'
#include <stdexcept>
__attribute__((noinline)) static void throws_it(int depth)
{
    if (!depth)
        throw std::runtime_error("thrown");
    throws_it(depth - 1);
    asm volatile("");
}

extern "C" long call()
{
    try {
        throws_it(3);
    } catch (const std::runtime_error &) {
        return 55;
    }
    return 0;
}
END
g++ -O1 -g -shared -fPIC throws.cpp -o libthrows.so
# A line of its input is a library to load, "close" or "call".
cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char line[100];
    void *library = NULL;
    long (*call)(void) = NULL;

    setvbuf(stdout, NULL, _IONBF, 0);
    printf("%d\n", getpid());
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!strcmp(line, "call")) {
            printf("%ld\n", call());
        } else if (!strcmp(line, "close")) {
            printf("closed %d\n", dlclose(library));
        } else {
            library = dlopen(line, RTLD_NOW);
            call = library ? (long (*)(void))dlsym(library, "call") : NULL;
            puts(call ? "loaded" : dlerror());
        }
    }
    return 0;
}
END
gcc -O1 -g loads.c -o loads
mkfifo orders
./loads <orders >said 2>&1 &
job=$!
started+=($!)
exec 7>orders
until pid=$(head -n 1 said) && [[ $pid ]]; do sleep 0.01; done

# does ORDER ANSWER
does()
{
    local before
    before=$(wc -l <said)
    echo "$1" >&7
    for ((try = 0; try < 1000; try++)); do
        (($(wc -l <said) > before)) && break
        sleep 0.01
    done
    equal "answer to $1" "$(tail -n 1 said)" "$2"
}

# hooked COUNT: images were hooked that often since
hooked()
{
    for ((try = 0; try < 3000; try++)); do
        (($(grep -c 'loaded since are hooked' attach.log || true) >= $1)) && return
        sleep 0.01
    done
    cat attach.log >&2
    fail "what was loaded is not hooked, $1"
}

attached
does ./libone.so loaded
hooked 1
does call 55
does call 55
does close 'closed 0'
does ./libtwo.so loaded
hooked 2
does call 55
does ./libthrows.so loaded
hooked 3
does call 55
does call 55
detached
does call 55
cmp <(python3 - "$pid" <<'END'
import sys
memory = open(f"/proc/{sys.argv[1]}/mem", "rb")
for line in open(f"/proc/{sys.argv[1]}/maps"):
    fields = line.split(maxsplit=5)
    if "x" in fields[1] and len(fields) == 6 and fields[5].strip().endswith("libtwo.so"):
        start, end = (int(number, 16) for number in fields[0].split("-"))
        memory.seek(start)
        sys.stdout.buffer.write(memory.read(end - start)[:512])
END
) <(python3 -c 'import sys; sys.stdout.buffer.write(open("libtwo.so", "rb").read()[4096:4608])') ||
    fail "libtwo.so is not what it was"
exec 7>&-
wait "$job" || fail "the program: status $?"
"$BUILD/grinder/grinder" --mode=profile --output-format=tsv --output-file=functions traces/*.bin
for name in one:354 two:177 throws:8; do
    function=${name%:*}_
    equal "calls of $function" "$(awk -F '\t' -v name="$function" 'index($4, name) == 1 { sum += $8 } END { print sum + 0 }' functions)" \
        "${name#*:}"
done
contains functions "$PWD/libone.so"
