#!/bin/bash
# Mono: files that it compiled ahead of time are left as they are, and it walks its stacks while it is
# recorded: exceptions, collections, the calling assembly, threads.
# needs: mono-runtime mono-mcs
. "$(dirname "$0")/lib.sh"

cat >stacks.cs <<'END'
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Threading;
class Stacks
{
    static int Fail(int n)
    {
        if (n == 0)
            throw new InvalidOperationException("deep");
        return Fail(n - 1) + 1;
    }
    static void Main()
    {
        var list = new List<string>();
        int caught = 0;
        for (int i = 0; i < 50000; i++)
            list.Add((i * 7919 % 10007).ToString());
        GC.Collect();
        Console.WriteLine(string.Join(",", list.OrderBy(x => x).Take(9)));
        for (int i = 0; i < 100; i++)
            try { Fail(20); }
            catch (InvalidOperationException e) { caught += e.StackTrace.Split('\n').Length; }
        Console.WriteLine(caught);
        Console.WriteLine(Assembly.GetCallingAssembly() != null);
        Console.WriteLine(Assembly.GetExecutingAssembly().GetName().Name);
        var thread = new Thread(() => { GC.Collect(); Console.WriteLine("thread"); });
        thread.Start();
        thread.Join();
    }
}
END
mcs stacks.cs
mono stacks.exe >native.out
XDG_CACHE_HOME=$work/cache umbra record --quiet -- mono stacks.exe >recorded.out
cmp native.out recorded.out || fail "mono prints something else"
grinder --mode=summary umbra.data/traces/*.bin >summary 2>problems || fail "not balanced"
umbra ls --left umbra.data >left 2>&1
contains left 'mscorlib\.dll\.so: .*found code that Mono compiled ahead of time'

cp /usr/bin/mono-sgen native/mono
for how in prologue copy; do
    instrumented mono --how=$how
    recorded mono "$work/stacks.exe"
done
