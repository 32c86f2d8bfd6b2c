-- What a script finds around it, as in Redis 7: the globals, `redis` and `cjson`, none of which it can change.
-- Called once with the functions of the host. Returns the table of globals (for KEYS and ARGV), the environment that
-- scripts are loaded with, and a function that runs one: true and its result, or false and the error.
local host = ...
local locate, plain = host.locate, host.plain
local error, pcall, xpcall, rawset, rawget, select, setfenv, type = error, pcall, xpcall, rawset, rawget, select, setfenv, type
local loadstring, setmetatable, gcinfo, tostring = loadstring, setmetatable, gcinfo, tostring
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

local redis = {
  call = host.call, pcall = host.pcall, sha1hex = host.sha1hex, log = host.log,
  LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
  REPL_NONE = 0, REPL_AOF = 1, REPL_SLAVE = 2, REPL_REPLICA = 2, REPL_ALL = 3,
  REDIS_VERSION = "7.0.15", REDIS_VERSION_NUM = 0x0007000f,
}

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

-- Scripts are replicated nowhere; these are for scripts written for older servers.
function redis.replicate_commands() return true end
function redis.set_repl() end
function redis.breakpoint() return false end
function redis.debug() end

local cjson = { encode = host.encode, decode = host.decode, null = host.null, _NAME = "cjson", _VERSION = "2.1.0" }

-- As in Redis 7, pcall gives the text of an error that is a table with `err`.
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

local globals = {
  _VERSION = _VERSION, assert = assert, error = error, getmetatable = getmetatable, ipairs = ipairs, next = next,
  pairs = pairs, rawequal = rawequal, select = select, setmetatable = setmetatable, tonumber = tonumber,
  tostring = tostring, type = type, unpack = unpack, gcinfo = gcinfo,
  math = protect(math), string = protect(string), table = protect(table), redis = protect(redis),
  cjson = protect(cjson),
}
local environment = protect(globals)
globals._G = environment
getmetatable("").__metatable = false

function globals.pcall(...)
  return flattened(pcall(...))
end

function globals.xpcall(called, handler)
  return xpcall(called, function(problem)
    return handler(plain(problem))
  end)
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
