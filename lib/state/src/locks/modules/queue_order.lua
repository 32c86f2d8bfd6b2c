-- Which ticket waits for which locks, and after which other ticket.
local Blocking = require('locks/blocking')
local Chunks = require('chunks')
local Entries = require('locks/entries')

local QueueOrder = {}

-- A ticket ends KEPT_MS after its claim was last repeated. It asks without a pause while no pause is longer than PAUSE_MS. A lock that was
-- granted more than LONG_LOCK_MS ago may last much longer, so no file is held back for its sake.
local RESERVED_MS, KEPT_MS, PAUSE_MS, LONG_LOCK_MS = 20000, 30000, 10000, 300000
QueueOrder.LONG_LOCK_MS = LONG_LOCK_MS
QueueOrder.PAUSE_MS = PAUSE_MS
QueueOrder.KEPT_MS = KEPT_MS

-- The holder of a request, a ticket or a lock, as text.
function QueueOrder.holder_of(record)
  return record.user_id .. ' ' .. (record.agent_id or '')
end

-- Facts about the order, until the tickets or the locks change:
--   relations: ticket -> file path -> DIRECT for its files, NEIGHBOR for those near them
--   locks_on:  file path -> live locks
--   blockers:  file path -> how it is wanted, and on which branch -> { holder -> its lock, number of holders }
--   waits:     ticket -> list of what blockers_of() returns for its files, if there are any
--   orders:    ticket -> other ticket -> what has_file_of() returns
--   aged:      ticket -> true for those that hold their files back from later claims
--   waiting:   what tickets_waiting_for_caller() returns
function QueueOrder.begin_order(call)
  call.queue.relations, call.queue.locks_on, call.queue.blockers, call.queue.waits, call.queue.orders = {}, {}, {}, {}, {}
end

function QueueOrder.relations_of(call, ticket)
  if not call.queue.relations[ticket] then
    local relations = {}
    for _, path in ipairs(ticket.near or {}) do
      relations[path] = 'NEIGHBOR'
    end
    for _, path in ipairs(ticket.files) do
      relations[path] = 'DIRECT'
    end
    call.queue.relations[ticket] = relations
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
    -- Up to 2,000 pairs of tickets have dozens of files each: so the loop calls no function.
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

-- Reads the locks on these files, each file once.
local function load_locks(call, paths)
  local unread = {}
  for _, path in ipairs(paths) do
    unread[#unread + 1] = not call.queue.locks_on[path] and path or nil
  end
  Entries.each_value(call, unread, function(path, value)
    local locks = {}
    for _, entry in ipairs(call.entries_of[path] or (value and cjson.decode(value)) or {}) do
      locks[#locks + 1] = not Entries.has_expired(call, entry) and entry or nil
    end
    call.queue.locks_on[path], call.queue.blockers[path] = locks, {}
  end)
end

-- The holders whose locks on the file block the ticket.
local function blockers_of(call, path, ticket)
  local relation = QueueOrder.relations_of(call, ticket)[path]
  local name = relation .. ticket.status .. (ticket.keeps and ' keeps ' or ' ') .. ticket.branch
  if not call.queue.blockers[path][name] then
    local lock_of, count = {}, 0
    for _, lock in ipairs(call.queue.locks_on[path]) do
      local holder = QueueOrder.holder_of(lock)
      local both_keep = ticket.keeps and lock.interface == 'keeps'
      local blocks = Blocking.is_blocking(ticket.status, relation, lock.status, 'interface', false, both_keep)
      if lock.branch == ticket.branch and not lock_of[holder] and blocks then
        lock_of[holder], count = lock, count + 1
      end
    end
    call.queue.blockers[path][name] = { lock_of, count }
  end
  return call.queue.blockers[path][name]
end

local function waits_of(call, ticket)
  if not call.queue.waits[ticket] then
    local waits, paths = {}, Chunks.slice(ticket.files, 1)
    for _, path in ipairs(ticket.near or {}) do
      paths[#paths + 1] = path
    end
    load_locks(call, paths)
    for _, path in ipairs(paths) do
      if #call.queue.locks_on[path] > 0 then
        local blockers = blockers_of(call, path, ticket)
        waits[#waits + 1] = blockers[2] > 0 and blockers or nil
      end
    end
    call.queue.waits[ticket] = waits
  end
  return call.queue.waits[ticket]
end

-- Whether the ticket waits for a lock of this holder, who is not its own.
local function waits_for(call, ticket, holder)
  if QueueOrder.holder_of(ticket) == holder then
    return false
  end
  for _, blockers in ipairs(waits_of(call, ticket)) do
    if blockers[1][holder] then
      return true
    end
  end
  return false
end

-- When the first lock that the ticket waits for was granted, and when the last one ends, Unix milliseconds; nil for none.
function QueueOrder.span_of_locks(call, ticket)
  local own, first, last = QueueOrder.holder_of(ticket), nil, nil
  for _, blockers in ipairs(waits_of(call, ticket)) do
    for holder, lock in pairs(blockers[1]) do
      if holder ~= own then
        first = math.min(first or math.huge, (lock.granted_at or lock.timestamp) * 1000)
        last = math.max(last or 0, lock.expiry_ms or lock.expiry * 1000)
      end
    end
  end
  return first, last
end

-- Whether the ticket has been overtaken for longer than its patience, while it asks without a pause.
local function is_overtaken(call, ticket)
  if not ticket.overtaken or call.now_ms < ticket.overtaken + ticket.patience or call.now_ms > ticket.held + PAUSE_MS then
    return false
  end
  local first_lock = QueueOrder.span_of_locks(call, ticket)
  return not first_lock or call.now_ms - first_lock <= LONG_LOCK_MS
end

-- Overtaken tickets, ticket -> true: of those that want the same file, only the first.
function QueueOrder.aged_tickets(call)
  if call.queue.aged then
    return call.queue.aged
  end
  local is_aged, aged = {}, {}
  for _, ticket in ipairs(call.queue.tickets) do
    local is_first = is_overtaken(call, ticket)
    for _, other in ipairs(is_first and aged or {}) do
      local is_apart = other.branch ~= ticket.branch or not (has_file_of(call, ticket, other) or has_file_of(call, other, ticket))
      is_first = is_first and is_apart
    end
    if is_first then
      is_aged[ticket], aged[#aged + 1] = true, ticket
    end
  end
  call.queue.aged = is_aged
  return call.queue.aged
end

-- Whether the ticket at `index` waits until the one at `other_index` has its files.
local function comes_after(call, index, other_index)
  local ticket, before = call.queue.tickets[index], call.queue.tickets[other_index]
  if index == other_index or before.branch ~= ticket.branch or QueueOrder.holder_of(before) == QueueOrder.holder_of(ticket) then
    return false
  elseif not (before.reserved or (other_index < index and QueueOrder.aged_tickets(call)[before])) then
    return false
  end
  local order = call.queue.orders[ticket] or {}
  call.queue.orders[ticket] = order
  if order[before] == nil then
    order[before] = has_file_of(call, ticket, before)
  end
  return order[before]
end

-- Ticket -> true for those that wait for a lock of the caller, also through others. The caller does not wait for them, since both
-- would wait forever.
function QueueOrder.tickets_waiting_for_caller(call)
  if call.queue.waiting then
    return call.queue.waiting
  end
  local is_waiting, added = {}, {}
  call.queue.waiting = is_waiting
  if not redis.call('HGET', call.keys.held, '@' .. call.request.user_id) then
    return is_waiting
  end
  for index, ticket in ipairs(call.queue.tickets) do
    if waits_for(call, ticket, call.queue.caller) then
      is_waiting[ticket], added[#added + 1] = true, index
    end
  end
  while #added > 0 do
    local reached = table.remove(added)
    local holder = QueueOrder.holder_of(call.queue.tickets[reached])
    for index, ticket in ipairs(call.queue.tickets) do
      if not is_waiting[ticket] and (comes_after(call, index, reached) or waits_for(call, ticket, holder)) then
        is_waiting[ticket], added[#added + 1] = true, index
      end
    end
  end
  return is_waiting
end

function QueueOrder.forget_order(call)
  call.queue.aged, call.queue.waiting, call.queue.is_changed = nil, nil, true
end

-- Whether the ticket at `index` waits for no lock and no other ticket.
local function is_next(call, index)
  local holder = QueueOrder.holder_of(call.queue.tickets[index])
  for _, blockers in ipairs(waits_of(call, call.queue.tickets[index])) do
    if blockers[2] > (blockers[1][holder] and 1 or 0) then
      return false
    end
  end
  for other_index = 1, #call.queue.tickets do
    if comes_after(call, index, other_index) then
      return false
    end
  end
  return true
end

-- Reserves the files of the ticket at `index` if it waits for nothing.
function QueueOrder.reserve_if_next(call, index)
  local ticket = call.queue.tickets[index]
  if not ticket.reserved and is_next(call, index) then
    ticket.reserved, call.queue.newly_reserved[#call.queue.newly_reserved + 1] = call.now_ms + RESERVED_MS, ticket
    QueueOrder.forget_order(call)
  end
end

return QueueOrder
