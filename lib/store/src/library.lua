#!lua name=NAME
local function register(name, run)
  redis.register_function({ function_name = 'NAME_' .. name, flags = { FLAGS }, callback = run })
end
