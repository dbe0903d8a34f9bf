#!/bin/bash
# Maxima, by GCL: a program that was dumped with its heap is left, and computes what it does natively
# while what it loads is recorded.
# needs: maxima
. "$(dirname "$0")/../lib.sh"

cat >input <<'END'
factor(x^24-1); integrate(sin(x)^3,x); 200!; solve(x^3-2*x+1=0,x);
for i thru 200 do s:expand((x+y)^i)$ length(s);
END
maxima --very-quiet <input >native.out
XDG_CACHE_HOME=$work/cache umbra record --quiet -- maxima --very-quiet <input >recorded.out
cmp native.out recorded.out || fail "maxima prints something else"
grinder --mode=summary umbra.data/traces/*.bin >summary 2>problems || fail "not balanced"
umbra ls --left umbra.data >left 2>&1
contains left 'binary-gcl/maxima: .*found a program that was dumped with its heap'
