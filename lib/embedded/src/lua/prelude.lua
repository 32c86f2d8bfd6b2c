-- The environment of a script, as in Redis 7: the globals, `redis` and `cjson`, all read-only.
-- Called once with the functions of the host. Returns a function that runs a script (true and its result, or false and the
-- error), the metatable of strings, and the surroundings of our own scripts and of guests. Surroundings are the table of
-- globals (for KEYS and ARGV), the environment to load with, and the methods of strings.
local host = ...
local locate, plain, is_ended = host.locate, host.plain, host.is_ended
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

-- Scripts are not replicated; these exist for scripts written for older servers.
function redis.replicate_commands() return true end
function redis.set_repl() end
function redis.breakpoint() return false end
function redis.debug() end

local cjson = { encode = host.encode, decode = host.decode, null = host.null, _NAME = "cjson", _VERSION = "2.1.0" }

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

local string_metatable = getmetatable("")
string_metatable.__metatable = false

-- As Redis 7 words it.
local function refuse_global(_, name)
  error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
end

-- Our own scripts change none of these tables, and see them without the protection that guests get.
local function as_it_is(contents)
  return contents
end

local function surround(strings, tables, longest_text, protect)
  local globals = {
    _VERSION = _VERSION, assert = assert, error = error, getmetatable = getmetatable, ipairs = ipairs, next = next,
    pairs = pairs, rawequal = rawequal, select = select, setmetatable = setmetatable, tonumber = tonumber,
    tostring = tostring, type = type, unpack = unpack, gcinfo = gcinfo,
    math = protect(math), string = protect(strings), table = protect(tables), redis = protect(redis),
    cjson = protect(cjson),
  }
  local environment = protect(globals)
  globals._G = environment

  function globals.pcall(...)
    return flattened(pcall(...))
  end

  -- An error handler raised by a hook runs without hooks: nothing would end it.
  function globals.xpcall(called, handler)
    return xpcall(called, function(problem)
      local text = plain(problem)
      if is_ended() then
        return text
      end
      return handler(text)
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

  -- Source text only: the loader of Lua 5.1 does not verify bytecode.
  function globals.loadstring(text, name)
    if type(text) ~= "string" then
      error("bad argument #1 to 'loadstring' (string expected, got " .. type(text) .. ")", 2)
    elseif byte(text) == 27 then
      return nil, "bytecode is not allowed"
    elseif #text > longest_text then
      return nil, "chunk is too long"
    end
    host.tick()
    local chunk, problem = loadstring(text, name)
    if chunk then
      setfenv(chunk, environment)
    end
    return chunk, problem
  end

  setmetatable(globals, { __index = refuse_global, __newindex = refuse })
  return { globals = globals, environment = environment, strings = strings }
end

-- Only one result counts. More results than xpcall has room for would break it.
local current
local function first_result()
  return (current())
end
local function run(script)
  current = script
  return xpcall(first_result, locate)
end

local guest_strings, guest_tables = host.guest(host, string, table)
return run, string_metatable,
  surround(string, table, math.huge, as_it_is), surround(guest_strings, guest_tables, host.longest_text, protect)
