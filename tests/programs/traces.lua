-- Traces of LuaJIT that call C, errors through them, a callback, coroutines. looped.c has the C.
local ffi = require("ffi")
ffi.cdef("int twice(int n); int apply(int (*function)(int), int n);")
local looped = ffi.load("./liblooped.so")

local function loop(n)
    local sum = 0
    for i = 1, n do
        sum = sum + looped.twice(i % 100)
    end
    return sum
end

local function fails(n)
    return n % 3 == 0 and error("at " .. looped.twice(n)) or n
end

print(loop(1000000))
local caught, sum = 0, 0
for i = 1, 30000 do
    local ok, value = pcall(fails, i)
    caught, sum = caught + (ok and 0 or 1), sum + (ok and value or 0)
end
print(caught, sum)
local more = ffi.cast("int (*)(int)", function(n) return looped.twice(n) + 1 end)
print(looped.apply(more, 4))
local next_one = coroutine.wrap(function() for i = 1, 100000 do coroutine.yield(i) end end)
local all = 0
for _ = 1, 100000 do all = all + next_one() end
print(all)
