-- The queue: a claim that others' locks block gets a ticket. A ticket blocks a free file only while the file is reserved for it, or
-- once it has been overtaken for too long.
--
-- The tickets are a JSON list in the order of their first refusals. They are read with the admission, so that a claim without
-- tickets costs nothing. Each function parses them first. A ticket: `id`, a digest of holder, branch, mode and files; `user_id`,
-- `user_name`, `agent_id`; `branch`; `status`; `message`; `files`, without shared ones; `near`, neighbors of these that blocked it when it
-- was refused; `keeps`, if it keeps the interfaces of its files; and, in Unix milliseconds: `since`, its first refusal; `asked`, its last
-- one; `held`, until when the server repeats the claim; `overtaken`, since when only locks that were granted after `since` block it;
-- `reserved`, the end of its reservation; and `patience`, the milliseconds from `overtaken` until it holds its files back.
local Blocking = require('locks/blocking')
local Chunks = require('chunks')
local Emit = require('events/emit')
local QueueOrder = require('locks/queue_order')
local Request = require('admission/request')

local Queue = {}

local MAX_TICKETS, MAX_PER_PERSON, MAX_PER_HOLDER, MAX_FILES_PER_HOLDER = 64, 16, 4, 64
local MAX_BYTES, MAX_BYTES_PER_PERSON, MAX_NEAR, MAX_BEFORE = 131072, 65536, 32, 8

-- The last millisecond of the ticket, unless its claim is repeated.
local function end_of(ticket)
  return ticket.reserved or (ticket.held or ticket.asked) + QueueOrder.KEPT_MS
end

-- Parses the tickets, once. A repository without tickets gets here only with its first refusal.
local function load_tickets(call)
  if call.queue then
    return
  end
  -- `tickets`: the live ones; `before`: those before the claim of the last findings(); `caller`: the holder that calls.
  call.queue = { tickets = {}, before = {}, caller = QueueOrder.holder_of(call.request), newly_reserved = {} }
  QueueOrder.begin_order(call)
  for _, ticket in ipairs(call.request.queue and cjson.decode(call.request.queue) or {}) do
    -- A ticket from the future does not count: the clock was set back.
    if end_of(ticket) >= call.now_ms and ticket.asked <= call.now_ms + QueueOrder.LONG_LOCK_MS then
      call.queue.tickets[#call.queue.tickets + 1] = ticket
    end
  end
end

-- The id of the caller's ticket for such a claim, and its index, or nil.
local function own_ticket(call, paths, wanted)
  local sorted = Chunks.slice(paths, 1)
  table.sort(sorted)
  local parts = { call.request.user_id, call.request.agent_id, call.request.branch, wanted, table.concat(sorted, '\n') }
  local id = string.sub(redis.sha1hex(table.concat(parts, '\n')), 1, 12)
  for index, ticket in ipairs(call.queue.tickets) do
    if ticket.id == id and Request.is_own(call, ticket) then
      return id, index
    end
  end
  return id, nil
end

-- Whether someone else's lock on the file blocks a claim of the caller.
local function is_locked(call, path, wanted)
  for _, entry in ipairs(call.entries_of[path] or {}) do
    if
      entry.branch == call.request.branch
      and not Request.is_own(call, entry)
      and Blocking.is_blocking(wanted, 'DIRECT', entry.status, 'block')
    then
      return true
    end
  end
  return false
end

-- The ticket in the form of a lock entry. It ends with its reservation, or with the last of the locks that it waits for.
local function entry_of(call, ticket, path)
  local _, last_lock = QueueOrder.span_of_locks(call, ticket)
  local last = ticket.reserved or last_lock or end_of(ticket)
  return {
    key = '',
    file_path = path,
    branch = ticket.branch,
    user_id = ticket.user_id,
    user_name = ticket.user_name,
    agent_id = ticket.agent_id,
    status = ticket.status,
    agent_head = '',
    message = ticket.message,
    timestamp = math.floor(ticket.since / 1000),
    expiry = math.floor(last / 1000),
    expiry_ms = last,
    token = 0,
  }
end

-- The `new` files of the claim that the ticket wants too. `keeps`: whether the claim keeps their interfaces.
local function common_files(call, ticket, new, wanted, neighbor_policy, keeps)
  local files = {}
  if ticket.branch == call.request.branch and not Request.is_own(call, ticket) then
    local relation_of = QueueOrder.relations_of(call, ticket)
    for _, path in ipairs(new) do
      local relation = relation_of[path]
      if relation and Blocking.is_blocking(wanted, relation, ticket.status, neighbor_policy, false, keeps and ticket.keeps) then
        files[#files + 1] = path
      end
    end
    table.sort(files)
  end
  return files
end

-- The tickets that hold files of a claim back, as findings of a survey, RESERVED: one for each file, unless a lock on it blocks the claim;
-- and, for a check, tickets that only want such a file, WAITING, which block nothing. The caller may renew its locks whatever others wait
-- for, and a shared file has no queue. `keeps`: whether the claim keeps the interfaces. `own`: file path -> the caller's entry.
function Queue.findings(call, paths, wanted, neighbor_policy, keeps, own)
  load_tickets(call)
  call.queue.before = {}
  local new, is_named = {}, {}
  for _, path in ipairs(paths) do
    local entry = own[path]
    local is_new = call.policy.kinds[path] ~= 'S' and (not entry or (entry.status ~= wanted and entry.status ~= 'WRITING'))
    new[#new + 1] = is_new and path or nil
  end
  local function to_findings(relation, blocks, tickets_with_files)
    local findings = {}
    for _, pair in ipairs(tickets_with_files) do
      local ticket, files = unpack(pair)
      for _, path in ipairs(files) do
        if not is_named[path] and not is_locked(call, path, wanted) then
          findings[#findings + 1] = { relation = relation, blocks = blocks, via = path, entry = entry_of(call, ticket, path) }
        end
        is_named[path] = true
      end
    end
    return findings
  end
  local _, own_index = own_ticket(call, paths, wanted)
  local holding, wanting = {}, {}
  for index, ticket in ipairs(call.queue.tickets) do
    local files = common_files(call, ticket, new, wanted, neighbor_policy, keeps)
    if #files > 0 then
      local is_before = not own_index or index < own_index
      if is_before then
        -- A lock that it waited for may have expired, or another reservation ended.
        QueueOrder.reserve_if_next(call, index)
      end
      local holds_back = ticket.reserved or (is_before and QueueOrder.aged_tickets(call)[ticket])
      holds_back = holds_back and not QueueOrder.tickets_waiting_for_caller(call)[ticket]
      if holds_back then
        holding[#holding + 1] = { ticket, files }
      elseif call.request.kind == 'READ' then
        wanting[#wanting + 1] = { ticket, files }
      end
      call.queue.before[#call.queue.before + 1] = (holds_back or is_before) and ticket or nil
    end
  end
  return to_findings('RESERVED', true, holding), to_findings('WAITING', false, wanting)
end

-- The number of tickets for which `matches(ticket)`, and the index of the first.
local function count_where(call, matches)
  local count, first = 0, nil
  for index, ticket in ipairs(call.queue.tickets) do
    if matches(ticket) then
      count, first = count + 1, first or index
    end
  end
  return count, first
end

-- Reserves the files of tickets on the branch, in their order, that no longer wait. `is_free`: file path -> true for files that have
-- become free.
local function reserve_for_next(call, is_free)
  if not next(is_free) then
    return
  end
  call.queue.locks_on, call.queue.blockers, call.queue.waits = {}, {}, {}
  for index, ticket in ipairs(call.queue.tickets) do
    local wants_free_file = false
    for path in pairs(ticket.branch == call.request.branch and QueueOrder.relations_of(call, ticket) or {}) do
      wants_free_file = wants_free_file or is_free[path]
    end
    if wants_free_file then
      QueueOrder.reserve_if_next(call, index)
    end
  end
end

-- Removes the caller's tickets on the branch for which `matches(ticket)`, and adds their files to `is_free`.
local function remove_own(call, matches, is_free)
  for index = #call.queue.tickets, 1, -1 do
    local ticket = call.queue.tickets[index]
    if ticket.branch == call.request.branch and Request.is_own(call, ticket) and matches(ticket) then
      for path in pairs(QueueOrder.relations_of(call, ticket)) do
        is_free[path] = true
      end
      table.remove(call.queue.tickets, index)
      QueueOrder.forget_order(call)
    end
  end
end

-- Whether the ticket lacks one of the files.
local function lacks_one(call, ticket, paths)
  local relation_of = QueueOrder.relations_of(call, ticket)
  for _, path in ipairs(paths) do
    if relation_of[path] ~= 'DIRECT' then
      return true
    end
  end
  return false
end

-- Adds a ticket of the caller; returns it, or nil if there is no room for it.
local function add_ticket(call, id, files, wanted, message, keeps)
  if #files > MAX_FILES_PER_HOLDER then
    return nil
  end
  local count, oldest = count_where(call, function(ticket)
    return Request.is_own(call, ticket)
  end)
  local of_holder = #files
  for _, ticket in ipairs(call.queue.tickets) do
    of_holder = of_holder + (Request.is_own(call, ticket) and #ticket.files or 0)
  end
  while count >= MAX_PER_HOLDER or of_holder > MAX_FILES_PER_HOLDER do
    of_holder = of_holder - #table.remove(call.queue.tickets, oldest).files
    count, oldest = count_where(call, function(ticket)
      return Request.is_own(call, ticket)
    end)
  end
  local ticket = {
    id = id,
    user_id = call.request.user_id,
    user_name = call.request.user_name,
    agent_id = call.request.agent_id ~= '' and call.request.agent_id or nil,
    branch = call.request.branch,
    status = wanted,
    message = message,
    files = files,
    keeps = keeps or nil,
    since = call.now_ms,
  }
  local bytes, bytes_of_person, of_person = #cjson.encode(ticket), #cjson.encode(ticket), 0
  for _, other in ipairs(call.queue.tickets) do
    local size = #cjson.encode(other)
    bytes = bytes + size
    if other.user_id == call.request.user_id then
      bytes_of_person, of_person = bytes_of_person + size, of_person + 1
    end
  end
  if #call.queue.tickets >= MAX_TICKETS or of_person >= MAX_PER_PERSON or bytes > MAX_BYTES or bytes_of_person > MAX_BYTES_PER_PERSON then
    return nil
  end
  call.queue.tickets[#call.queue.tickets + 1] = ticket
  return ticket
end

-- Writes the tickets back, and announces reservations.
local function save(call)
  if not call.queue.is_changed then
    return
  end
  call.queue.is_changed = false
  local texts, last = {}, call.now_ms
  for index, ticket in ipairs(call.queue.tickets) do
    texts[index], last = cjson.encode(ticket), math.max(last, end_of(ticket))
  end
  if #texts > 0 then
    redis.call('SET', call.keys.queue, '[' .. table.concat(texts, ',') .. ']', 'PX', string.format('%.0f', last - call.now_ms + 1))
  else
    redis.call('DEL', call.keys.queue)
  end
  for _, ticket in ipairs(call.queue.newly_reserved) do
    if ticket.reserved then
      Emit.event(call, {
        type = 'lock_reserved',
        user = ticket.user_id,
        user_name = ticket.user_name,
        agent_id = ticket.agent_id,
        branch = ticket.branch,
        status = ticket.status,
        message = ticket.message,
        ticket = ticket.id,
        files = Emit.names_of(ticket.files),
        file_count = #ticket.files,
        expiry = math.floor(ticket.reserved / 1000),
        expiry_ms = ticket.reserved,
        time_ms = call.now_ms,
      })
    end
  end
  call.queue.newly_reserved = {}
end

-- The holders whose locks or tickets block the caller, by `findings`, while they wait for a lock of the caller, also through others:
-- list of `user` and `agent_id`, absent for none.
local function mutual_waiters(call, findings)
  local waiters, is_waiting = {}, {}
  for ticket in pairs(QueueOrder.tickets_waiting_for_caller(call)) do
    is_waiting[QueueOrder.holder_of(ticket)] = true
  end
  for _, finding in ipairs(next(is_waiting) and findings or {}) do
    local entry = finding.blocks and cjson.decode(finding.entry)
    if entry and is_waiting[QueueOrder.holder_of(entry)] and #waiters < MAX_BEFORE then
      is_waiting[QueueOrder.holder_of(entry)] = nil
      waiters[#waiters + 1] = { user = entry.user_id, agent_id = entry.agent_id }
    end
  end
  return waiters
end

-- Removes the caller's tickets on the branch that lack one of `paths`.
local function withdraw_others(call, paths)
  local is_free = {}
  remove_own(call, function(ticket)
    return lacks_one(call, ticket, paths)
  end, is_free)
  reserve_for_next(call, is_free)
end

-- Adds or updates the caller's ticket after a refusal for `findings`. Returns its position: `ticket`, `position`, `before`: up to
-- MAX_BEFORE claims before it, each `user`, `agent_id`, absent for none, `message`, `since`; `mutual`: what mutual_waiters() returns; or
-- nil if there is no room.
function Queue.enqueue(call, paths, wanted, message, neighbor_policy, keeps, findings)
  load_tickets(call)
  local files = {}
  for _, path in ipairs(paths) do
    files[#files + 1] = call.policy.kinds[path] ~= 'S' and path or nil
  end
  withdraw_others(call, files)
  local id, index = own_ticket(call, paths, wanted)
  local ticket = index and call.queue.tickets[index]
  if ticket then
    -- The policy of the branch may have changed.
    ticket.message, ticket.files, ticket.keeps, ticket.reserved = message, files, keeps or nil, nil
    if call.now_ms > (ticket.held or ticket.asked) + QueueOrder.PAUSE_MS then
      ticket.overtaken = nil
    end
    call.queue.relations[ticket], call.queue.waits[ticket], call.queue.orders = nil, nil, {}
  else
    ticket = add_ticket(call, id, files, wanted, message, keeps)
    if not ticket then
      save(call)
      return nil
    end
  end
  ticket.asked, ticket.held = call.now_ms, call.now_ms + (call.policy.wait or 0) * 1000
  ticket.patience = call.policy.patience * 1000
  local near, is_near, is_older = Blocking.is_blocking(wanted, 'NEIGHBOR', 'WRITING', neighbor_policy) and ticket.near or {}, {}, false
  for _, path in ipairs(near) do
    is_near[path] = true
  end
  for _, finding in ipairs(findings) do
    local entry = finding.blocks and finding.relation ~= 'RESERVED' and cjson.decode(finding.entry)
    is_older = is_older or (entry and (entry.granted_at or entry.timestamp) * 1000 <= ticket.since)
    if entry and finding.relation == 'NEIGHBOR' and #near < MAX_NEAR and not is_near[entry.file_path] then
      near[#near + 1], is_near[entry.file_path] = entry.file_path, true
    end
  end
  ticket.near = #near > 0 and near or nil
  ticket.overtaken = ticket.overtaken or (not is_older and call.now_ms) or nil
  QueueOrder.forget_order(call)
  save(call)
  local before = {}
  for position, other in ipairs(Chunks.slice(call.queue.before, 1, math.min(#call.queue.before, MAX_BEFORE))) do
    before[position] = {
      user = other.user_id,
      agent_id = other.agent_id,
      message = other.message,
      since = math.floor(other.since / 1000),
    }
  end
  local waiters = mutual_waiters(call, findings)
  return {
    ticket = ticket.id,
    position = #call.queue.before + 1,
    before = #before > 0 and before or nil,
    mutual = #waiters > 0 and waiters or nil,
  }
end

-- Removes the caller's tickets that a grant ends: it holds `paths` now, as `wanted` or for writing. It held those in `was_held` before.
function Queue.leave(call, paths, wanted, was_held)
  load_tickets(call)
  local is_held, new, is_free = {}, {}, {}
  for _, path in ipairs(paths) do
    is_held[path], new[#new + 1] = true, not was_held[path] and call.policy.kinds[path] ~= 'S' and path or nil
  end
  remove_own(call, function(ticket)
    local has_all = wanted == 'WRITING' or ticket.status == wanted
    for _, path in ipairs(ticket.files) do
      has_all = has_all and is_held[path]
    end
    return has_all or lacks_one(call, ticket, new)
  end, is_free)
  for path in pairs(is_held) do
    is_free[path] = nil
  end
  reserve_for_next(call, is_free)
  save(call)
end

-- Whether the caller has a ticket on the branch that lacks one of `paths`.
function Queue.waits_for_others(call, paths)
  load_tickets(call)
  return count_where(call, function(ticket)
    return ticket.branch == call.request.branch and Request.is_own(call, ticket) and lacks_one(call, ticket, paths)
  end) > 0
end

-- Removes the caller's tickets on the branch that lack one of `paths`, on which it works now.
function Queue.leave_others(call, paths)
  load_tickets(call)
  withdraw_others(call, paths)
  save(call)
end

-- Removes the caller's tickets on the branch after a release of `paths`, which are free for the next ticket.
function Queue.leave_all(call, paths)
  load_tickets(call)
  local is_free = {}
  for _, path in ipairs(paths) do
    is_free[path] = true
  end
  remove_own(call, function()
    return true
  end, is_free)
  reserve_for_next(call, is_free)
  save(call)
end

-- Reserves `paths` for the next tickets after others' locks on them have ended.
function Queue.reserve_freed(call, paths)
  load_tickets(call)
  local is_free = {}
  for _, path in ipairs(paths) do
    is_free[path] = true
  end
  reserve_for_next(call, is_free)
  save(call)
end

-- How many tickets are before the claim of the last findings().
function Queue.count_before(call)
  load_tickets(call)
  return #call.queue.before
end

return Queue
