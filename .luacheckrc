-- What luacheck takes for granted in the Lua files of the state: Lua 5.1, and what stores add to it.
std = "lua51"
globals = { "redis", "cjson" }
max_line_length = false
