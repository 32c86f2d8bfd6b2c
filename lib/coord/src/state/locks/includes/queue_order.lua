-- Which ticket waits for which locks, and after which other ticket. Joined in open_queue() of locks/queue. Needs: `tickets`, `me`,
-- holder_of(), `is_changed`; RESERVED_MS, PAUSE_MS and LONG_LOCK_MS.

local relations = {} -- ticket -> file path -> DIRECT for its own, NEIGHBOR for those near to them

local function relations_of(ticket)
  if not relations[ticket] then
    local found = {}
    for _, path in ipairs(ticket.near or {}) do
      found[path] = 'NEIGHBOR'
    end
    for _, path in ipairs(ticket.files) do
      found[path] = 'DIRECT'
    end
    relations[ticket] = found
  end
  return relations[ticket]
end

-- Whether the ticket wants a file in a way that the other one excludes.
local function has_file_of(ticket, other)
  local blocking = {}
  for _, relation in ipairs({ 'DIRECT', 'NEIGHBOR' }) do
    blocking[relation] = is_blocking(ticket.status, relation, other.status, 'interface', false, ticket.keeps and other.keeps) or nil
  end
  if next(blocking) then
    -- Up to 2,000 pairs of tickets have dozens of files each: nothing is called here.
    local relation_of = relations_of(other)
    for _, path in ipairs(ticket.files) do
      local relation = relation_of[path]
      if relation and blocking[relation] then
        return true
      end
    end
  end
  return false
end

local locks_on = {} -- file path -> live locks
local blockers = {} -- file path -> how it is wanted, and on which branch -> { holder -> its lock, number of these }

-- Reads the locks on these files; each file once.
local function load_locks(paths)
  local unknown = {}
  for _, path in ipairs(paths) do
    unknown[#unknown + 1] = not locks_on[path] and path or nil
  end
  each_value(unknown, function(path, value)
    local found = {}
    for _, entry in ipairs(entries_of[path] or (value and cjson.decode(value)) or {}) do
      found[#found + 1] = not has_expired(entry) and entry or nil
    end
    locks_on[path], blockers[path] = found, {}
  end)
end

-- Those whose locks on the file are in the way of the ticket.
local function blockers_of(path, ticket)
  local relation = relations_of(ticket)[path]
  local name = relation .. ticket.status .. (ticket.keeps and ' keeps ' or ' ') .. ticket.branch
  if not blockers[path][name] then
    local found, count = {}, 0
    for _, lock in ipairs(locks_on[path]) do
      local holder = holder_of(lock)
      local both_keep = ticket.keeps and lock.interface == 'keeps'
      local blocks = is_blocking(ticket.status, relation, lock.status, 'interface', false, both_keep)
      if lock.branch == ticket.branch and not found[holder] and blocks then
        found[holder], count = lock, count + 1
      end
    end
    blockers[path][name] = { found, count }
  end
  return blockers[path][name]
end

local waits = {} -- ticket -> list of what blockers_of() gives of its files, where there are any

local function waits_of(ticket)
  if not waits[ticket] then
    local found, paths = {}, part_of(ticket.files, 1)
    for _, path in ipairs(ticket.near or {}) do
      paths[#paths + 1] = path
    end
    load_locks(paths)
    for _, path in ipairs(paths) do
      if #locks_on[path] > 0 then
        local those = blockers_of(path, ticket)
        found[#found + 1] = those[2] > 0 and those or nil
      end
    end
    waits[ticket] = found
  end
  return waits[ticket]
end

-- Whether the ticket waits for a lock of another holder, of this one.
local function waits_for(ticket, holder)
  if holder_of(ticket) == holder then
    return false
  end
  for _, those in ipairs(waits_of(ticket)) do
    if those[1][holder] then
      return true
    end
  end
  return false
end

-- When the first lock that the ticket waits for was granted, and when the last one ends, Unix milliseconds; nil for none.
local function span_of_locks(ticket)
  local own, first, last = holder_of(ticket), nil, nil
  for _, those in ipairs(waits_of(ticket)) do
    for holder, lock in pairs(those[1]) do
      if holder ~= own then
        first = math.min(first or math.huge, (lock.granted_at or lock.timestamp) * 1000)
        last = math.max(last or 0, lock.expiry_ms or lock.expiry * 1000)
      end
    end
  end
  return first, last
end

-- Whether the ticket has been overtaken for as long as it has patience, while it asks without a pause.
local function is_overtaken(ticket)
  if not ticket.overtaken or now_ms < ticket.overtaken + ticket.patience or now_ms > ticket.held + PAUSE_MS then
    return false
  end
  local first_lock = span_of_locks(ticket)
  return not first_lock or now_ms - first_lock <= LONG_LOCK_MS
end

local aged -- ticket -> true for those that hold their files back from later claims, until the tickets change

-- Of those that want the same file, it is the first.
local function aged_tickets()
  if aged then
    return aged
  end
  local found, list = {}, {}
  for _, ticket in ipairs(tickets) do
    local is_one = is_overtaken(ticket)
    for _, other in ipairs(is_one and list or {}) do
      local is_apart = other.branch ~= ticket.branch or not (has_file_of(ticket, other) or has_file_of(other, ticket))
      is_one = is_one and is_apart
    end
    if is_one then
      found[ticket], list[#list + 1] = true, ticket
    end
  end
  aged = found
  return aged
end

local orders = {} -- ticket -> other ticket -> what has_file_of() gives

-- Whether the ticket at `place` waits until the one at `other` has its files.
local function comes_after(place, other)
  local ticket, before = tickets[place], tickets[other]
  if place == other or before.branch ~= ticket.branch or holder_of(before) == holder_of(ticket) then
    return false
  elseif not (before.reserved or (other < place and aged_tickets()[before])) then
    return false
  end
  local order = orders[ticket] or {}
  orders[ticket] = order
  if order[before] == nil then
    order[before] = has_file_of(ticket, before)
  end
  return order[before]
end

local waiting -- what waiting_for_caller() has found, until the tickets change

-- Ticket -> true for those that wait for a lock of the caller, also through others. The caller does not wait for them: they
-- would wait for each other.
local function waiting_for_caller()
  if waiting then
    return waiting
  end
  local found, added = {}, {}
  waiting = found
  if not redis.call('HGET', keys.held, '@' .. request.user_id) then
    return found
  end
  for place, ticket in ipairs(tickets) do
    if waits_for(ticket, me) then
      found[ticket], added[#added + 1] = true, place
    end
  end
  while #added > 0 do
    local reached = table.remove(added)
    local holder = holder_of(tickets[reached])
    for place, ticket in ipairs(tickets) do
      if not found[ticket] and (comes_after(place, reached) or waits_for(ticket, holder)) then
        found[ticket], added[#added + 1] = true, place
      end
    end
  end
  return found
end

local function forget_order()
  aged, waiting, is_changed = nil, nil, true
end

-- Whether the ticket waits for nobody.
local function is_first(place)
  local holder = holder_of(tickets[place])
  for _, those in ipairs(waits_of(tickets[place])) do
    if those[2] > (those[1][holder] and 1 or 0) then
      return false
    end
  end
  for other = 1, #tickets do
    if comes_after(place, other) then
      return false
    end
  end
  return true
end

local newly_reserved = {} -- tickets

-- Reserves the files of a ticket that waits for nobody.
local function notice(place)
  local ticket = tickets[place]
  if not ticket.reserved and is_first(place) then
    ticket.reserved, newly_reserved[#newly_reserved + 1] = now_ms + RESERVED_MS, ticket
    forget_order()
  end
end
