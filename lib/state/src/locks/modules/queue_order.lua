-- Which ticket waits for which locks, and after which other ticket.
local Blocking = require('locks/blocking')
local Chunks = require('chunks')
local Entries = require('locks/entries')

local QueueOrder = {}

-- A ticket ends KEPT_MS after it was asked for last. It asks without a pause while no pause is longer than PAUSE_MS. Nobody knows
-- when a lock ends that was granted more than LONG_LOCK_MS ago: no file is held back for it.
local RESERVED_MS, KEPT_MS, PAUSE_MS, LONG_LOCK_MS = 20000, 30000, 10000, 300000
QueueOrder.LONG_LOCK_MS = LONG_LOCK_MS
QueueOrder.PAUSE_MS = PAUSE_MS
QueueOrder.KEPT_MS = KEPT_MS

function QueueOrder.holder_of(one)
  return one.user_id .. ' ' .. (one.agent_id or '')
end

-- Facts about the order, until the tickets or the locks change:
--   relations: ticket -> file path -> DIRECT for its own, NEIGHBOR for those near to them
--   locks_on:  file path -> live locks
--   blockers:  file path -> how it is wanted, and on which branch -> { holder -> its lock, number of these }
--   waits:     ticket -> list of what blockers_of() returns of its files, where there are any
--   orders:    ticket -> other ticket -> what has_file_of() returns
--   aged:      ticket -> true for those that hold their files back from later claims
--   waiting:   what waiting_for_caller() has found
function QueueOrder.begin_order(call)
  call.queue.relations, call.queue.locks_on, call.queue.blockers, call.queue.waits, call.queue.orders = {}, {}, {}, {}, {}
end

function QueueOrder.relations_of(call, ticket)
  if not call.queue.relations[ticket] then
    local found = {}
    for _, path in ipairs(ticket.near or {}) do
      found[path] = 'NEIGHBOR'
    end
    for _, path in ipairs(ticket.files) do
      found[path] = 'DIRECT'
    end
    call.queue.relations[ticket] = found
  end
  return call.queue.relations[ticket]
end

-- Whether the ticket wants a file in a way that `other` excludes.
local function has_file_of(call, ticket, other)
  local blocking = {}
  for _, relation in ipairs({ 'DIRECT', 'NEIGHBOR' }) do
    blocking[relation] = Blocking.is_blocking(ticket.status, relation, other.status, 'interface', false, ticket.keeps and other.keeps)
      or nil
  end
  if next(blocking) then
    -- Up to 2,000 pairs of tickets have dozens of files each: nothing is called here.
    local relation_of = QueueOrder.relations_of(call, other)
    for _, path in ipairs(ticket.files) do
      local relation = relation_of[path]
      if relation and blocking[relation] then
        return true
      end
    end
  end
  return false
end

-- Reads the locks on these files; each file once.
local function load_locks(call, paths)
  local unknown = {}
  for _, path in ipairs(paths) do
    unknown[#unknown + 1] = not call.queue.locks_on[path] and path or nil
  end
  Entries.each_value(call, unknown, function(path, value)
    local found = {}
    for _, entry in ipairs(call.entries_of[path] or (value and cjson.decode(value)) or {}) do
      found[#found + 1] = not Entries.has_expired(call, entry) and entry or nil
    end
    call.queue.locks_on[path], call.queue.blockers[path] = found, {}
  end)
end

-- The holders whose locks on the file block the ticket.
local function blockers_of(call, path, ticket)
  local relation = QueueOrder.relations_of(call, ticket)[path]
  local name = relation .. ticket.status .. (ticket.keeps and ' keeps ' or ' ') .. ticket.branch
  if not call.queue.blockers[path][name] then
    local found, count = {}, 0
    for _, lock in ipairs(call.queue.locks_on[path]) do
      local holder = QueueOrder.holder_of(lock)
      local both_keep = ticket.keeps and lock.interface == 'keeps'
      local blocks = Blocking.is_blocking(ticket.status, relation, lock.status, 'interface', false, both_keep)
      if lock.branch == ticket.branch and not found[holder] and blocks then
        found[holder], count = lock, count + 1
      end
    end
    call.queue.blockers[path][name] = { found, count }
  end
  return call.queue.blockers[path][name]
end

local function waits_of(call, ticket)
  if not call.queue.waits[ticket] then
    local found, paths = {}, Chunks.part_of(ticket.files, 1)
    for _, path in ipairs(ticket.near or {}) do
      paths[#paths + 1] = path
    end
    load_locks(call, paths)
    for _, path in ipairs(paths) do
      if #call.queue.locks_on[path] > 0 then
        local those = blockers_of(call, path, ticket)
        found[#found + 1] = those[2] > 0 and those or nil
      end
    end
    call.queue.waits[ticket] = found
  end
  return call.queue.waits[ticket]
end

-- Whether the ticket waits for a lock of another holder, of this one.
local function waits_for(call, ticket, holder)
  if QueueOrder.holder_of(ticket) == holder then
    return false
  end
  for _, those in ipairs(waits_of(call, ticket)) do
    if those[1][holder] then
      return true
    end
  end
  return false
end

-- When the first lock that the ticket waits for was granted, and when the last one ends, Unix milliseconds; nil for none.
function QueueOrder.span_of_locks(call, ticket)
  local own, first, last = QueueOrder.holder_of(ticket), nil, nil
  for _, those in ipairs(waits_of(call, ticket)) do
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
local function is_overtaken(call, ticket)
  if not ticket.overtaken or call.now_ms < ticket.overtaken + ticket.patience or call.now_ms > ticket.held + PAUSE_MS then
    return false
  end
  local first_lock = QueueOrder.span_of_locks(call, ticket)
  return not first_lock or call.now_ms - first_lock <= LONG_LOCK_MS
end

-- Of those that want the same file, it is the first.
function QueueOrder.aged_tickets(call)
  if call.queue.aged then
    return call.queue.aged
  end
  local found, list = {}, {}
  for _, ticket in ipairs(call.queue.tickets) do
    local is_one = is_overtaken(call, ticket)
    for _, other in ipairs(is_one and list or {}) do
      local is_apart = other.branch ~= ticket.branch or not (has_file_of(call, ticket, other) or has_file_of(call, other, ticket))
      is_one = is_one and is_apart
    end
    if is_one then
      found[ticket], list[#list + 1] = true, ticket
    end
  end
  call.queue.aged = found
  return call.queue.aged
end

-- Whether the ticket at `place` waits until the one at `other` has its files.
local function comes_after(call, place, other)
  local ticket, before = call.queue.tickets[place], call.queue.tickets[other]
  if place == other or before.branch ~= ticket.branch or QueueOrder.holder_of(before) == QueueOrder.holder_of(ticket) then
    return false
  elseif not (before.reserved or (other < place and QueueOrder.aged_tickets(call)[before])) then
    return false
  end
  local order = call.queue.orders[ticket] or {}
  call.queue.orders[ticket] = order
  if order[before] == nil then
    order[before] = has_file_of(call, ticket, before)
  end
  return order[before]
end

-- Ticket -> true for those that wait for a lock of the caller, also through others. The caller does not wait for them: they
-- would wait for each other.
function QueueOrder.waiting_for_caller(call)
  if call.queue.waiting then
    return call.queue.waiting
  end
  local found, added = {}, {}
  call.queue.waiting = found
  if not redis.call('HGET', call.keys.held, '@' .. call.request.user_id) then
    return found
  end
  for place, ticket in ipairs(call.queue.tickets) do
    if waits_for(call, ticket, call.queue.me) then
      found[ticket], added[#added + 1] = true, place
    end
  end
  while #added > 0 do
    local reached = table.remove(added)
    local holder = QueueOrder.holder_of(call.queue.tickets[reached])
    for place, ticket in ipairs(call.queue.tickets) do
      if not found[ticket] and (comes_after(call, place, reached) or waits_for(call, ticket, holder)) then
        found[ticket], added[#added + 1] = true, place
      end
    end
  end
  return found
end

function QueueOrder.forget_order(call)
  call.queue.aged, call.queue.waiting, call.queue.is_changed = nil, nil, true
end

-- Whether the ticket waits for no other.
local function is_first(call, place)
  local holder = QueueOrder.holder_of(call.queue.tickets[place])
  for _, those in ipairs(waits_of(call, call.queue.tickets[place])) do
    if those[2] > (those[1][holder] and 1 or 0) then
      return false
    end
  end
  for other = 1, #call.queue.tickets do
    if comes_after(call, place, other) then
      return false
    end
  end
  return true
end

-- Reserves the files of a ticket that waits for no other.
function QueueOrder.notice(call, place)
  local ticket = call.queue.tickets[place]
  if not ticket.reserved and is_first(call, place) then
    ticket.reserved, call.queue.newly_reserved[#call.queue.newly_reserved + 1] = call.now_ms + RESERVED_MS, ticket
    QueueOrder.forget_order(call)
  end
end

return QueueOrder
