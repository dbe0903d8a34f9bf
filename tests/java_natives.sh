#!/bin/bash
# Native methods that are recorded below Java: identical output under each collector, interpreted and
# compiled, with exceptions and stack traces through them, threads, and Java code that is thrown away
# while they run. Their callers in compiled Java appear by name.
# needs: openjdk-17-jdk-headless
. "$(dirname "$0")/lib.sh"

home=/usr/lib/jvm/java-17-openjdk-amd64
"$home/bin/javac" -d native "$TESTS/programs/Natives.java"
cp native/*.class instrumented/
build libnatives.so natives.c -shared -fPIC -I"$home/include" -I"$home/include/linux"
instrumented libnatives.so
ln -s "$home/bin/java" native/java
ln -s "$home/bin/java" instrumented/java

while read -ra options; do
    recorded java "${options[@]}" Natives 3 5
    equal "output with ${options[*]}" "$(tail -n 1 native.stdout)" end
    equal "passed with ${options[*]}" "$(summed skipped)" 0
    (($(summed entries) > 200000)) || fail "only $(summed entries) calls with ${options[*]}"
done <<'END'
-XX:+UseSerialGC -Xcheck:jni
-XX:+UseParallelGC -Xint
-XX:+UseG1GC -Xmx32m -XX:+UnlockDiagnosticVMOptions -XX:+VerifyBeforeGC -XX:+VerifyAfterGC
-XX:+UseG1GC -Xcomp -XX:TieredStopAtLevel=1
-XX:+UseZGC
-XX:+UseShenandoahGC -XX:+PreserveFramePointer
END

# Names: of code that is still there at the end, so none is thrown away.
record java -Xcomp -XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit \
    -XX:-MethodFlushing Natives 3 5
map=/tmp/perf-$(sed -n 's/^process \([0-9]*\) .*/\1/p' summary).map
trap 'status=$?; rm -f "$map"; set +e; (exit $status); end_of_script' EXIT
grinder --mode=profile --merge --output-format=tsv-edges --output-file=edges traces

# calls CALLER CALLEE: how many the edges file says, of callers that match
calls()
{
    awk -F '\t' -v caller="$1" -v callee="$2" '$4 ~ caller && $6 == callee { sum += $10 }
        END { print sum + 0 }' edges
}

all=$(calls . Java_Natives_add)
named=$(calls 'Natives[.](adds|work|deoptimised)[(]int[)]$' Java_Natives_add)
echo "of $all calls of add $named have a Java caller"
((named > all * 9 / 10)) || fail "callers of add: $(grep Java_Natives_add edges)"
equal "calls by what leads from Java to C" "$(calls 'Natives[.]add[(]' Java_Natives_add)" 0
(($(calls 'Natives[.]below[(]int[)]$' Java_Natives_nested) > 150)) || fail "callers of nested"
(($(calls 'Natives[.]fails[(]int[)]$' Java_Natives_fail) > 350)) || fail "callers of fail"
