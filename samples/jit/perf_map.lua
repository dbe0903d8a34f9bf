-- Writes /tmp/perf-PID.map from within LuaJIT, for builds that do not write it themselves:
--
--     LUA_PATH='samples/?.lua;;' luajit -jperf_map script.lua
--
-- A line a trace, "START SIZE Lua:NAME FILE:LINE:1": the function that the trace begins in, so that
-- all traces of a function are one caller. What is inlined into a trace is its caller, too.
local jit, ffi, util = require("jit"), require("ffi"), require("jit.util")

ffi.cdef("int getpid(void);")
local path = ("/tmp/perf-%d.map"):format(ffi.C.getpid())
local map, begun = nil, {}

-- Of a function on the stack, as its caller calls it.
local function name_of(wanted)
    for level = 2, 10 do
        local info = debug.getinfo(level, "fn")
        if not info then
            break
        elseif info.func == wanted then
            return info.name
        end
    end
end

local function write(number)
    local code, address = util.tracemc(number)
    if not code or not begun[number] then
        return
    end
    if address < 0 then
        address = address + 2 ^ 32
    end
    map = map or assert(io.open(path, "w"))
    map:write(("%x %x %s\n"):format(address, #code, begun[number]))
    map:flush()
end

-- A side trace belongs to the function in which its loop began.
local function note(what, number, func, _, parent)
    if what == "start" then
        local info = util.funcinfo(func)
        begun[number] = parent and begun[parent] or ("Lua:%s %s:%d:1"):format(
            name_of(func) or "function", tostring(info.source):gsub("^@", ""), info.linedefined or 0)
    elseif what == "stop" then
        write(number)
    end
end

return {start = function() jit.attach(note, "trace") end}
