#!/bin/bash
# clang++ on an instrumented libLLVM-14 compiles C++ with templates and exceptions to the identical
# object file, without a service and recorded.
# needs: clang-14 g++
. "$(dirname "$0")/../lib.sh"

library=/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1
cat >source.cpp <<'EOF'
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

template <int N> struct tower {
    static int sum(const std::vector<int> &numbers)
    {
        return numbers[N % numbers.size()] + tower<N - 1>::sum(numbers);
    }
};
template <> struct tower<0> {
    static int sum(const std::vector<int> &) { return 0; }
};

using value = std::variant<int, double, std::string>;

std::map<std::string, value> parse(const std::string &text)
{
    std::map<std::string, value> values;
    std::regex pair("(\\w+)=(\\w+)");

    for (std::sregex_iterator at(text.begin(), text.end(), pair), end; at != end; ++at) {
        try {
            values[(*at)[1]] = std::stoi((*at)[2]);
        } catch (const std::invalid_argument &) {
            values[(*at)[1]] = (*at)[2].str();
        }
    }
    if (values.empty())
        throw std::runtime_error("nothing in " + text);
    return values;
}

int run(std::vector<int> numbers, std::function<int(int)> map)
{
    auto kept = std::make_unique<std::vector<int>>();

    std::transform(numbers.begin(), numbers.end(), std::back_inserter(*kept), map);
    std::sort(kept->begin(), kept->end(), [](int a, int b) { return a % 7 < b % 7; });
    return tower<200>::sum(*kept);
}
EOF

# compile OUTPUT COMMAND…: clang++, below COMMAND
compile()
{
    "${@:2}" clang++-14 -std=c++17 -O2 -g -c source.cpp -o "$1" >"$1.log" 2>&1 ||
        { tail -n 20 "$1.log" >&2; fail "$1 was not compiled"; }
}

instrument "$library" -o "instrumented/${library##*/}"
compile native.o
LD_LIBRARY_PATH=$work/instrumented compile without.o
cmp native.o without.o || fail "without a service: another object file"
LD_LIBRARY_PATH=$work/instrumented compile recorded.o \
    "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" --
cmp native.o recorded.o || fail "recorded: another object file"
balanced
(($(summed entries) > 10000000)) || fail "only $(summed entries) calls were recorded"
echo "$(stat -c %s native.o) bytes of object file, $(summed entries) calls recorded"
