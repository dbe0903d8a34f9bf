-- Lua's own work: strings, tables, closures, patterns and errors caught by pcall. The number of
-- words may be given.

local seed = 42
local function random(limit)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed // 65536 % limit + 1
end

local function make_text(words)
    local text = {}
    for i = 1, words do
        local letters = {}
        for j = 1, random(3) do
            letters[j] = string.char(96 + random(26))
        end
        text[i] = table.concat(letters)
    end
    return table.concat(text, " ")
end

local function count_words(text)
    local counts = {}
    for word in text:gmatch("%a+") do
        counts[word] = (counts[word] or 0) + 1
    end
    return counts
end

local function sorted(counts)
    local words = {}
    for word in pairs(counts) do
        words[#words + 1] = word
    end
    table.sort(words, function(a, b)
        if counts[a] ~= counts[b] then
            return counts[a] > counts[b]
        end
        return a < b
    end)
    return words
end

local function failing(depth)
    if depth == 0 then
        error({reason = "at the bottom"})
    end
    return 1 + failing(depth - 1)
end

local text = make_text(tonumber(arg[1]) or 800000)
local counts = count_words(text)
local words = sorted(counts)
for i = 1, 5 do
    print(words[i], counts[words[i]])
end
print(#words, #text, text:gsub("a", "A"):sub(1, 60))

local caught = 0
for _ = 1, 60000 do
    local fine, cause = pcall(failing, 10)
    if not fine and cause.reason == "at the bottom" then
        caught = caught + 1
    end
end
print(caught, "errors caught")
