-- The environment of a script, as in Redis 7: the globals, `redis` and `cjson`, all read-only.
-- Called once with the functions of the host. Returns a function that runs a script (true and its result, or false and the
-- error), the metatable of strings, the surroundings of our own scripts and of guests, and those of libraries of functions.
-- Surroundings are the table of globals (for KEYS and ARGV), the environment to load with, and the methods of strings.
local host = ...
local locate, plain, is_ended = host.locate, host.plain, host.is_ended
local error, pcall, xpcall, rawset, rawget, select, setfenv, type = error, pcall, xpcall, rawset, rawget, select, setfenv, type
local loadstring, setmetatable, gcinfo, tostring, next = loadstring, setmetatable, gcinfo, tostring, next
local find, sub, byte, lower = string.find, string.sub, string.byte, string.lower

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

local function surround(redis, strings, tables, longest_text, protect, protect_environment)
  local globals = {
    _VERSION = _VERSION, assert = assert, error = error, getmetatable = getmetatable, ipairs = ipairs, next = next,
    pairs = pairs, rawequal = rawequal, select = select, setmetatable = setmetatable, tonumber = tonumber,
    tostring = tostring, type = type, unpack = unpack, gcinfo = gcinfo,
    math = protect(math), string = protect(strings), table = protect(tables), redis = protect(redis),
    cjson = protect(cjson),
  }
  local environment = protect_environment(globals)
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

-- The environment of a library while it is loaded: no global but `redis`, and of that these. Then the functions that it
-- has registered run with the globals of scripts, without KEYS and ARGV.
local registered

local function fault(text)
  error({ err = "ERR " .. text }, 0)
end

-- As the C functions of Lua take a text.
local function text_of(value)
  return (type(value) == "string" or type(value) == "number") and tostring(value) or nil
end

local function flags_of(list)
  if type(list) ~= "table" then
    fault("flags argument to redis.register_function must be a table representing function flags")
  end
  local flags = {}
  for index = 1, #list do
    local flag = text_of(list[index])
    if list[index] == nil then
      break
    elseif not flag or not host.function_flags[lower(flag)] then
      fault("unknown flag given")
    end
    flags[lower(flag)] = true
  end
  return flags
end

-- The value of each argument that register_function takes by name.
local named = {
  function_name = function(value)
    return text_of(value) or fault("function_name argument given to redis.register_function must be a string")
  end,
  description = function(value)
    return text_of(value) or fault("description argument given to redis.register_function must be a string")
  end,
  callback = function(value)
    if type(value) ~= "function" then
      fault("callback argument given to redis.register_function must be a function")
    end
    return value
  end,
  flags = flags_of,
}

local function read_named(arguments)
  local read = {}
  for key, value in next, arguments do
    local name = text_of(key)
    if not name then
      fault("named argument key given to redis.register_function is not a string")
    end
    name = lower(name)
    if not named[name] then
      fault("unknown argument given to redis.register_function")
    end
    read[name] = named[name](value)
  end
  if not read.function_name then
    fault("redis.register_function must get a function name argument")
  elseif not read.callback then
    fault("redis.register_function must get a callback argument")
  end
  return read
end

local function register_function(...)
  if not registered then
    fault("redis.register_function can only be called on FUNCTION LOAD command")
  end
  local count, first, second = select("#", ...), ...
  local read
  if count < 1 or count > 2 then
    fault("wrong number of arguments to redis.register_function")
  elseif count == 2 then
    local name = text_of(first)
    if not name then
      fault("first argument to redis.register_function must be a string")
    elseif type(second) ~= "function" then
      fault("second argument to redis.register_function must be a function")
    end
    read = { function_name = name, callback = second }
  elseif type(first) ~= "table" then
    fault("calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments).")
  else
    read = read_named(first)
  end
  if not find(read.function_name, "^[%w_]+$") then
    fault("Library names can only contain letters, numbers, or underscores(_) and must be at least one character long")
  elseif registered[read.function_name] then
    fault("Function already exists in the library")
  end
  registered[read.function_name] = read
end

local function copy_without(contents, left_out)
  local copy = {}
  for name, value in next, contents do
    if not left_out[name] then
      copy[name] = value
    end
  end
  return copy
end

local function surround_libraries(strings, tables, longest_text)
  local loading_redis = setmetatable({ register_function = register_function }, { __index = refuse_global })
  for _, name in next, { "log", "LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING", "REDIS_VERSION", "REDIS_VERSION_NUM" } do
    loading_redis[name] = redis[name]
  end
  local while_loading = setmetatable({ redis = protect(loading_redis) }, { __index = refuse_global })
  local view = { __newindex = refuse, __metatable = false }
  local called_redis = copy_without(redis, { breakpoint = true, debug = true, replicate_commands = true })
  local called = surround(called_redis, strings, tables, longest_text, protect, function(globals)
    view.__index = globals
    local proxy = setmetatable({}, view)
    contents_of[proxy] = globals
    return proxy
  end)
  -- Begins to load a library. Returns the table that gets its registrations.
  function called.begin()
    view.__index, registered = while_loading, {}
    return registered
  end
  function called.finish()
    view.__index, registered = called.globals, nil
  end
  return called
end

-- Only one result counts. More results than xpcall has room for would break it.
local current
local function first_result()
  return (current())
end
local current_keys, current_arguments
local function first_result_of_function()
  return (current(current_keys, current_arguments))
end
local function run(script, keys, arguments)
  current, current_keys, current_arguments = script, keys, arguments
  return xpcall(keys and first_result_of_function or first_result, locate)
end

local guest_strings, guest_tables = host.guest(host, string, table)
return run, string_metatable, surround(redis, string, table, math.huge, as_it_is, as_it_is),
  surround(redis, guest_strings, guest_tables, host.longest_text, protect, protect),
  surround_libraries(guest_strings, guest_tables, host.longest_text)
