-- The interpreter's control and calls. Few strings and keys, whose hashes have another seed in each run.
local function fib(n)
    if n < 2 then
        return n
    end
    return fib(n - 1) + fib(n - 2)
end

local list, sum, caught = {}, 0.0, 0
for i = 1, 3000 do
    list[i] = i * 7919 % 10007
end
table.sort(list)
table.sort(list, function(a, b)
    return a % 100 > b % 100
end)
for i, value in ipairs(list) do
    sum = sum + value / i
end
for i = 1, 500 do
    local is_fine = pcall(function(x)
        if x % 2 == 0 then
            error(x)
        end
    end, i)
    caught = caught + (is_fine and 0 or 1)
end
local next_number = coroutine.wrap(function()
    for i = 1, 1000 do
        coroutine.yield(i)
    end
end)
for _ = 1, 1000 do
    sum = sum + next_number()
end
print(fib(18), #list, string.format("%.3f", sum), caught)
