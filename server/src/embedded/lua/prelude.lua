-- What a script finds around it, as in Redis 7: the globals, `redis` and `cjson`, none of which it can change.
-- Called once with the functions of the host. Returns the table of globals (for KEYS and ARGV), the environment that
-- scripts are loaded with, and a function that runs one: true and its result, or false and the error.
local host = ...
local encode, decode, call, raw_sha1hex, raw_log = host.encode, host.decode, host.call, host.sha1hex, host.log
local locate = host.locate
local error, pcall, xpcall, rawset, rawget, select, setfenv, type = error, pcall, xpcall, rawset, rawget, select, setfenv, type
local loadstring, setmetatable, tonumber = loadstring, setmetatable, tonumber
local find, sub, byte = string.find, string.sub, string.byte

local READONLY = "Attempt to modify a readonly table"
local contents_of = {}

local function refuse()
  error(READONLY, 2)
end

local function protect(contents)
  local proxy = setmetatable({}, { __index = contents, __newindex = refuse, __metatable = false })
  contents_of[proxy] = contents
  return proxy
end

-- An error of redis.call is a table; the host gives nil and a text.
local function failure(text)
  return { err = text, ignore_error_stats_update = true }
end

local redis = {
  LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
  REPL_NONE = 0, REPL_AOF = 1, REPL_SLAVE = 2, REPL_REPLICA = 2, REPL_ALL = 3,
  REDIS_VERSION = "7.0.15", REDIS_VERSION_NUM = 0x0007000f,
}

function redis.call(...)
  local reply, text = call(...)
  if reply == nil then
    error(failure(text), 0)
  end
  return reply
end

function redis.pcall(...)
  local reply, text = call(...)
  if reply == nil then
    return failure(text)
  end
  return reply
end

function redis.error_reply(...)
  local text = ...
  if select("#", ...) ~= 1 or type(text) ~= "string" then
    return { err = "ERR wrong number or type of arguments" }
  end
  if byte(text) == 45 then
    text = sub(text, 2)
  end
  if not find(text, " ", 1, true) then
    text = "ERR " .. text
  end
  return { err = text }
end

function redis.status_reply(...)
  local text = ...
  if select("#", ...) ~= 1 or type(text) ~= "string" then
    return { err = "ERR wrong number or type of arguments" }
  end
  return { ok = text }
end

function redis.sha1hex(...)
  if select("#", ...) ~= 1 then
    error(failure("ERR wrong number of arguments"), 0)
  end
  return raw_sha1hex((...))
end

function redis.log(...)
  local level = ...
  if select("#", ...) < 2 then
    error(failure("ERR redis.log() requires two arguments or more."), 0)
  elseif type(level) ~= "number" then
    error(failure("ERR First argument must be a number (log level)."), 0)
  elseif level < 0 or level > 3 then
    error(failure("ERR Invalid debug level."), 0)
  end
  raw_log(...)
end

-- Scripts are replicated nowhere; these are for scripts written for older servers.
function redis.replicate_commands() return true end
function redis.set_repl() end
function redis.breakpoint() return false end
function redis.debug() end

local cjson = { null = host.null, _NAME = "cjson", _VERSION = "2.1.0" }

function cjson.encode(...)
  if select("#", ...) ~= 1 then
    error("bad argument #1 to 'encode' (expected 1 argument)", 2)
  end
  local text, problem = encode((...))
  if text == nil then
    error(problem, 2)
  end
  return text
end

function cjson.decode(...)
  local text = ...
  if select("#", ...) ~= 1 then
    error("bad argument #1 to 'decode' (expected 1 argument)", 2)
  elseif type(text) ~= "string" and type(text) ~= "number" then
    error("bad argument #1 to 'decode' (string expected, got " .. type(text) .. ")", 2)
  end
  local value, problem = decode(text)
  if value == nil then
    error(problem, 2)
  end
  return value
end

-- As in Redis 7, pcall gives the text of an error that is a table with `err`.
local function flattened(is_done, ...)
  if not is_done then
    local problem = ...
    if type(problem) == "table" and type(problem.err) == "string" then
      return false, problem.err
    end
  end
  return is_done, ...
end

local globals = {
  _VERSION = _VERSION, assert = assert, error = error, getmetatable = getmetatable, ipairs = ipairs, next = next,
  pairs = pairs, rawequal = rawequal, select = select, setmetatable = setmetatable, tonumber = tonumber,
  tostring = tostring, type = type, unpack = unpack, xpcall = xpcall, gcinfo = gcinfo,
  math = protect(math), string = protect(string), table = protect(table), redis = protect(redis),
  cjson = protect(cjson),
}
local environment = protect(globals)
globals._G = environment
getmetatable("").__metatable = false

function globals.pcall(...)
  return flattened(pcall(...))
end

function globals.rawset(table, key, value)
  if contents_of[table] then
    error(READONLY, 0)
  end
  return rawset(table, key, value)
end

function globals.rawget(table, key)
  return rawget(contents_of[table] or table, key)
end

function globals.collectgarbage(option)
  return option == "count" and gcinfo() or 0
end

-- Source text only: the loader of Lua 5.1 does not check bytecode.
function globals.loadstring(text, name)
  if type(text) ~= "string" then
    error("bad argument #1 to 'loadstring' (string expected, got " .. type(text) .. ")", 2)
  elseif byte(text) == 27 then
    return nil, "bytecode is not allowed"
  end
  local chunk, problem = loadstring(text, name)
  if chunk then
    setfenv(chunk, environment)
  end
  return chunk, problem
end

setmetatable(globals, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
})

local function run(script)
  return xpcall(script, locate)
end

return globals, environment, run
