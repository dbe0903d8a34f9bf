# Call-trace mode on Debian's lua5.4 and libsqlite3: every call an event, at most 3 bytes each.
# needs: lua5.4 sqlite3 libzstd-dev libxxhash-dev
. "$(dirname "$0")/../lib.sh"

gcc -O2 -D_GNU_SOURCE -I"$TESTS/.." -o event_totals "$TESTS/campaigns/event_totals.c" \
    "$TESTS"/../trace/event_{reader,chunk,codec}.c "$TESTS"/../trace/{trace_reader,link_sums}.c "$TESTS"/../support/{failure,regular_file}.c -lzstd -lxxhash

cat >work.lua <<'END'
local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end
local t = {}
for i = 1, 200000 do t[i % 1000] = tostring(i) .. i end
local s = 0
for i = 1, 300000 do s = s + #(("x"):rep(i % 20)) end
table.sort(t)
print(f(24), s)
END
cat >work.sql <<'END'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)
    insert into t select i, 'row ' || i, i * 1.5 from n;
create index tb on t(b);
select count(*), sum(length(b)), avg(c) from t where b like '%7%';
select a, b from t order by c desc limit 3;
update t set c = c + 1 where a % 3 = 0;
delete from t where a % 7 = 0;
select count(*) from t;
END

# check WHAT: all calls of the trees are events, in at most 3 bytes each
check()
{
    local trace events dropped bytes
    balanced
    for trace in traces/*.bin; do
        ./event_totals "$trace"
    done >totals
    events=$(awk '{ sum += $2 + $4 + $6 } END { print sum }' totals)
    dropped=$(awk '{ sum += $8 } END { print sum }' totals)
    bytes=$(cat traces/*.events | wc -c)
    equal "$1: events and losses" $((events + dropped)) \
        $(($(summed entries) + $(summed exits) + $(summed unwound)))
    ((bytes <= 3 * events)) || fail "$1: $bytes bytes for $events events"
    awk -v what="$1" -v bytes="$bytes" -v events="$events" -v dropped="$dropped" \
        'BEGIN { printf "%s: %d events, %.2f bytes each, %d dropped\n", what, events, bytes / events, dropped }'
}

cp "$(command -v lua5.4)" native/lua
instrumented lua
run native ./lua ../work.lua
run instrumented "$BUILD/service/call_trace_service" start --mode=calltrace \
    --trace-dir="$work/traces" -- ./lua ../work.lua
compare_runs lua
check lua

library=$(ldconfig -p | awk '/libsqlite3.so.0 / && !found++ { print $NF }')
cp "$(readlink -f "$library")" native/libsqlite3.so.0
instrumented libsqlite3.so.0
rm -rf traces
run native env LD_LIBRARY_PATH=. sqlite3 :memory: ".read ../work.sql"
run instrumented "$BUILD/service/call_trace_service" start --mode=calltrace \
    --trace-dir="$work/traces" -- env LD_LIBRARY_PATH=. sqlite3 :memory: ".read ../work.sql"
compare_runs sqlite
check sqlite
