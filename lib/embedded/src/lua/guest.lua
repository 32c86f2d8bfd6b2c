-- Replacements for clients' scripts of those Lua functions that run no hook and may run forever. Each of them checks the
-- clock.
-- Called once with the host, the strings and the tables of Lua, and a function that protects a table. Returns the two
-- libraries for guests.
local host, string, table = ...
local tick, search, find_plain = host.tick, host.search, host.find_plain
local sub, tostring, type, select, error = string.sub, tostring, type, select, error
local concat, sort = table.concat, table.sort

local function timed(called)
  return function(...)
    tick()
    return called(...)
  end
end

local strings, tables = {}, {}
for name, called in pairs(string) do
  strings[name] = timed(called)
end
for name, called in pairs(table) do
  tables[name] = timed(called)
end
strings.rep = host.rep
strings.dump = nil

local function text(value, index, name)
  if type(value) == "number" then
    return tostring(value)
  elseif type(value) ~= "string" then
    error("bad argument #" .. index .. " to '" .. name .. "' (string expected, got " .. type(value) .. ")", 3)
  end
  return value
end

function strings.find(subject, pattern, init, is_plain)
  subject, pattern = text(subject, 1, "find"), text(pattern, 2, "find")
  if is_plain then
    return find_plain(subject, pattern, init or 1)
  end
  return search(subject, pattern, init or 1, true)
end

-- The captures, or the whole match where there are none.
local function captured(subject, first, last, ...)
  if first and select("#", ...) == 0 then
    return sub(subject, first, last)
  end
  return ...
end

function strings.match(subject, pattern, init)
  subject, pattern = text(subject, 1, "match"), text(pattern, 2, "match")
  local function answer(first, ...)
    if not first then
      return nil
    end
    return captured(subject, first, ...)
  end
  return answer(search(subject, pattern, init or 1, true))
end

function strings.gmatch(subject, pattern)
  subject, pattern = text(subject, 1, "gmatch"), text(pattern, 2, "gmatch")
  local at = 1
  local function answer(first, last, ...)
    if not first then
      at = nil
      return nil
    end
    at = last < first and first + 1 or last + 1
    return captured(subject, first, last, ...)
  end
  return function()
    if not at or at > #subject + 1 then
      return nil
    end
    return answer(search(subject, pattern, at, false))
  end
end
strings.gfind = strings.gmatch

-- The replacement of one match.
local function replacement(by, whole, ...)
  local kind, value = type(by), nil
  if kind == "string" or kind == "number" then
    local captures, count = { ... }, select("#", ...)
    local parts, at = {}, 1
    local from = tostring(by)
    while true do
      local percent = find_plain(from, "%", at)
      if not percent then
        parts[#parts + 1] = sub(from, at)
        return concat(parts)
      end
      parts[#parts + 1] = sub(from, at, percent - 1)
      local sign = sub(from, percent + 1, percent + 1)
      local index = type(sign) == "string" and tonumber(sign) or nil
      if not index then
        parts[#parts + 1] = sign
      elseif index == 0 or (index == 1 and count == 0) then
        parts[#parts + 1] = whole
      elseif index > count then
        error("invalid capture index", 4)
      else
        parts[#parts + 1] = captures[index]
      end
      at = percent + 2
    end
  elseif kind == "table" then
    value = by[(select("#", ...) > 0 and ... or whole)]
  else
    if select("#", ...) > 0 then
      value = by(...)
    else
      value = by(whole)
    end
  end
  if not value then
    return whole
  elseif type(value) ~= "string" and type(value) ~= "number" then
    error("invalid replacement value (a " .. type(value) .. ")", 4)
  end
  return value
end

function strings.gsub(subject, pattern, by, most)
  subject, pattern = text(subject, 1, "gsub"), text(pattern, 2, "gsub")
  local kind = type(by)
  if kind ~= "string" and kind ~= "number" and kind ~= "table" and kind ~= "function" then
    error("bad argument #3 to 'gsub' (string/function/table expected)", 2)
  end
  local is_anchored = sub(pattern, 1, 1) == "^"
  local parts, at, count, is_done = {}, 1, 0, false
  local function replace(first, last, ...)
    if not first then
      return false
    end
    parts[#parts + 1] = sub(subject, at, first - 1)
    parts[#parts + 1] = replacement(by, sub(subject, first, last), ...)
    count = count + 1
    if last < first then
      parts[#parts + 1] = sub(subject, first, first)
      at = first + 1
      return first <= #subject
    end
    at = last + 1
    return true
  end
  most = most or #subject + 1
  while count < most and replace(search(subject, pattern, at, true)) do
    if is_anchored then
      break
    end
  end
  parts[#parts + 1] = sub(subject, at)
  return concat(parts), count
end

-- Lua's own order runs no hook.
local function is_less(one, other)
  return one < other
end

function tables.sort(list, order)
  return sort(list, order or is_less)
end

return strings, tables
