-- The environment of a script, as in Redis 7: the globals that Coord's scripts use, `redis` and `cjson`.
-- Called once with the functions of the host. Returns a function that runs a script (true and its result, or false and the
-- error), and the environment in which scripts are loaded.
local host = ...
local locate, plain = host.locate, host.plain
local error, pcall, xpcall, tostring, type = error, pcall, xpcall, tostring, type

-- As in Redis 7, pcall returns the text of an error that is a table with `err`.
local function flatten_error(is_done, ...)
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
  return flatten_error(pcall(...))
end

-- The messages are those of Redis 7.
setmetatable(environment, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
  __newindex = function()
    error("Attempt to modify a readonly table", 2)
  end,
})

-- Only the first result counts. xpcall fails if a function returns more results than the stack has room for.
local current, first_argument, second_argument
local function first_result()
  return (current(first_argument, second_argument))
end
local function run(callee, first, second)
  current, first_argument, second_argument = callee, first, second
  return xpcall(first_result, locate)
end

return run, environment
