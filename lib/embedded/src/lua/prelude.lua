-- The environment of a script, as in Redis 7: the globals that Coord's scripts use, `redis` and `cjson`.
-- Called once with the functions of the host. Returns a function that runs a script (true and its result, or false and the
-- error), and the environment to load scripts with.
local host = ...
local locate, plain = host.locate, host.plain
local error, pcall, xpcall, tostring, type = error, pcall, xpcall, tostring, type

-- As in Redis 7, pcall returns the text of an error that is a table with `err`.
local function flattened(is_done, ...)
  if not is_done then
    local problem = plain((...))
    if type(problem) == "table" and type(problem.err) == "string" then
      return false, problem.err
    end
    return false, problem
  end
  return is_done, ...
end

local environment = {
  assert = assert, error = error, ipairs = ipairs, next = next, pairs = pairs, select = select, tonumber = tonumber,
  tostring = tostring, type = type, unpack = unpack, math = math, string = string, table = table,
  redis = { call = host.call, pcall = host.pcall, sha1hex = host.sha1hex },
  cjson = { encode = host.encode, decode = host.decode, null = host.null },
}

function environment.pcall(...)
  return flattened(pcall(...))
end

-- As Redis 7 words it.
setmetatable(environment, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
  __newindex = function()
    error("Attempt to modify a readonly table", 2)
  end,
})

-- Only one result counts. More results than xpcall has room for would break it.
local current, first, second
local function first_result()
  return (current(first, second))
end
local function run(called, one, other)
  current, first, second = called, one, other
  return xpcall(first_result, locate)
end

return run, environment
