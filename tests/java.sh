#!/bin/bash
# Java on an instrumented libjvm.so: identical output, without a service and recorded. HotSpot finds
# its way through the stack by return addresses and cannot be told better, so calls from the code it
# makes to itself pass; all below them is recorded. So are native methods.
# needs: openjdk-17-jdk-headless
# seconds: 30
. "$(dirname "$0")/lib.sh"

home=/usr/lib/jvm/java-17-openjdk-amd64

# A tree of links, but for what says where the tree is.
for folder in native instrumented; do
    cp -as "$home/." "$folder/" 2>/dev/null
    for file in bin/java lib/libjli.so lib/server/libjvm.so; do
        rm "$folder/$file"
        cp -L "$home/$file" "$folder/$file"
    done
done
"$home/bin/javac" -d native "$TESTS"/programs/{Throws,Natives}.java
cp native/*.class instrumented/
instrumented lib/server/libjvm.so
cat instrumented.line
recorded bin/java Throws
equal "output" "$(tail -n 1 native.stdout)" end
(($(summed entries) > 1000000)) || fail "only $(summed entries) calls were recorded"
(($(summed skipped) > 1000)) || fail "only $(summed skipped) calls passed"
echo "$(summed entries) calls recorded, $(summed skipped) passed"

build libnatives.so natives.c -shared -fPIC -I"$home/include" -I"$home/include/linux"
instrumented libnatives.so
recorded bin/java -XX:+UseSerialGC Natives 2 5
calls=$(calls_of Java_Natives_add)
((calls >= 120000)) || fail "of 120000 calls of a native method $calls were recorded"

# The C library copied, and HotSpot instrumented: its code is called where a thread's stack is not known.
mkdir libraries
instrument --how=copy "$(realpath /lib/x86_64-linux-gnu/libc.so.6)" -o libraries/libc.so.6
rm -rf traces
run native bin/java -version
run instrumented "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" -- \
    env LD_LIBRARY_PATH="$work/libraries" bin/java -version
compare_runs "java -version with a copied C library"
balanced
