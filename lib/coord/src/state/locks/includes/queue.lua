-- The queue: a claim that others' locks refuse has a ticket. A ticket keeps nobody from a free file, unless it holds its files back:
-- while they are reserved for it, or once it has been overtaken for too long. Needs: request, keys.queue, keys.locks, keys.held; and
-- for findings() and ask() `policy` of locks/policy, with `wait`, the seconds for which the server holds the claim, and `patience`.
--
-- The tickets are a JSON list in the order of their first refusals. They are read with the admission, so that a claim without
-- any costs nothing. A ticket: `id`, a digest of holder, branch, mode and files; `user_id`, `user_name`, `agent_id`; `branch`;
-- `status`; `message`; `files`, without shared ones; `near`, neighbors of these that blocked it when it was refused; `keeps`, if
-- it keeps the interfaces of its files; and, in Unix milliseconds, `since`; `asked`, the last time; `held`, until when the server
-- asks for it; `overtaken`, since when only locks block it that were granted after `since`; `reserved`, the end of its reservation;
-- and `patience`, the milliseconds from `overtaken` until it holds its files back.
-- @include chunks
-- @include locks/entries
-- @include locks/blocking
-- @include events/emit

local queue -- once it is open

-- What reads and changes the tickets; a repository without any opens it for the first refusal alone.
local function open_queue()
  if queue then
    return queue
  end
  queue = { before = {} } -- `before`: the tickets before the claim that the last findings() was about
  -- A ticket ends KEPT_MS after it was asked for last. It asks without a pause while no pause is longer than PAUSE_MS. Nobody knows
  -- when a lock ends that was granted more than LONG_LOCK_MS ago: no file is held back for it.
  local RESERVED_MS, KEPT_MS, PAUSE_MS, LONG_LOCK_MS = 20000, 30000, 10000, 300000
  local MOST_TICKETS, MOST_OF_PERSON, MOST_OF_HOLDER, MOST_FILES_OF_HOLDER = 64, 16, 4, 64
  local MOST_BYTES, MOST_BYTES_OF_PERSON, MOST_NEAR, MOST_BEFORE = 131072, 65536, 32, 8

  local function holder_of(one)
    return one.user_id .. ' ' .. (one.agent_id or '')
  end

  local me = holder_of(request)

  -- The last millisecond of the ticket, unless it is asked for again.
  local function end_of(ticket)
    return ticket.reserved or (ticket.held or ticket.asked) + KEPT_MS
  end

  local tickets, is_changed = {}, false -- the live ones

  for _, ticket in ipairs(request.queue and cjson.decode(request.queue) or {}) do
    -- One from later: the clock was set back.
    if end_of(ticket) >= now_ms and ticket.asked <= now_ms + LONG_LOCK_MS then
      tickets[#tickets + 1] = ticket
    end
  end

  -- @include locks/queue_order

  -- The id of the caller's ticket for such a claim, and its place, or nil.
  local function own_ticket(paths, wanted)
    local sorted = part_of(paths, 1)
    table.sort(sorted)
    local told = { request.user_id, request.agent_id, request.branch, wanted, table.concat(sorted, '\n') }
    local id = string.sub(redis.sha1hex(table.concat(told, '\n')), 1, 12)
    for place, ticket in ipairs(tickets) do
      if ticket.id == id and is_own(ticket) then
        return id, place
      end
    end
    return id, nil
  end

  -- Whether another's lock on the file blocks a claim of the caller.
  local function is_locked(path, wanted)
    for _, entry in ipairs(entries_of[path] or {}) do
      if entry.branch == request.branch and not is_own(entry) and is_blocking(wanted, 'DIRECT', entry.status, 'block') then
        return true
      end
    end
    return false
  end

  -- The ticket, told of as a lock. It ends with its reservation, or with the last of the locks that it waits for.
  local function entry_of(ticket, path)
    local _, last_lock = span_of_locks(ticket)
    local last = ticket.reserved or last_lock or end_of(ticket)
    return {
      key = '', file_path = path, branch = ticket.branch, user_id = ticket.user_id, user_name = ticket.user_name,
      agent_id = ticket.agent_id, status = ticket.status, agent_head = '', message = ticket.message,
      timestamp = math.floor(ticket.since / 1000), expiry = math.floor(last / 1000), expiry_ms = last, token = 0,
    }
  end

  -- Those of the `new` files that the claim would have before the ticket. `keeps`: whether the claim keeps their interfaces.
  local function common_files(ticket, new, wanted, neighbor_policy, keeps)
    local found = {}
    if ticket.branch == request.branch and not is_own(ticket) then
      local relation_of = relations_of(ticket)
      for _, path in ipairs(new) do
        local relation = relation_of[path]
        if relation and is_blocking(wanted, relation, ticket.status, neighbor_policy, false, keeps and ticket.keeps) then
          found[#found + 1] = path
        end
      end
      table.sort(found)
    end
    return found
  end

  -- The tickets that hold files of a claim back, as findings of a survey, RESERVED: one for each of the files, unless its lock blocks
  -- the claim; and for a check those that only want such a file, WAITING, which block nothing. What the caller holds is renewed
  -- whatever others wait for, and nobody waits for a shared file. `keeps`: whether the claim keeps the interfaces. `own`: file path ->
  -- the caller's entry.
  function queue.findings(paths, wanted, neighbor_policy, keeps, own)
    queue.before = {}
    local new, is_named = {}, {}
    for _, path in ipairs(paths) do
      local entry = own[path]
      local is_new = policy.kinds[path] ~= 'S' and (not entry or (entry.status ~= wanted and entry.status ~= 'WRITING'))
      new[#new + 1] = is_new and path or nil
    end
    local function named(relation, sign, pairs_of_ticket)
      local findings = {}
      for _, pair in ipairs(pairs_of_ticket) do
        local ticket, files = unpack(pair)
        for _, path in ipairs(files) do
          if not is_named[path] and not is_locked(path, wanted) then
            findings[#findings + 1] = { relation, sign, path, '', entry_of(ticket, path) }
          end
          is_named[path] = true
        end
      end
      return findings
    end
    local _, own_place = own_ticket(paths, wanted)
    local holding, wanting = {}, {}
    for place, ticket in ipairs(tickets) do
      local files = common_files(ticket, new, wanted, neighbor_policy, keeps)
      if #files > 0 then
        local is_before = not own_place or place < own_place
        if is_before then
          -- A lock of it has expired since, or another reservation has ended.
          notice(place)
        end
        local holds_back = ticket.reserved or (is_before and aged_tickets()[ticket])
        holds_back = holds_back and not waiting_for_caller()[ticket]
        if holds_back then
          holding[#holding + 1] = { ticket, files }
        elseif request.kind == 'READ' then
          wanting[#wanting + 1] = { ticket, files }
        end
        queue.before[#queue.before + 1] = (holds_back or is_before) and ticket or nil
      end
    end
    return named('RESERVED', '1', holding), named('WAITING', '0', wanting)
  end

  -- The number of tickets for which `is_one(ticket)`, and the place of the first.
  local function count_where(is_one)
    local count, first = 0, nil
    for place, ticket in ipairs(tickets) do
      if is_one(ticket) then
        count, first = count + 1, first or place
      end
    end
    return count, first
  end

  -- Reserves the files of those tickets on the branch, in their order, that now wait for nobody. `is_free`: file path -> true for what
  -- nobody has or waits for any more.
  local function reserve_for_next(is_free)
    if not next(is_free) then
      return
    end
    locks_on, blockers, waits = {}, {}, {}
    for place, ticket in ipairs(tickets) do
      local is_about = false
      for path in pairs(ticket.branch == request.branch and relations_of(ticket) or {}) do
        is_about = is_about or is_free[path]
      end
      if is_about then
        notice(place)
      end
    end
  end

  -- Removes the caller's tickets on the branch for which `is_over(ticket)`; `is_free` then has their files, too.
  local function remove_own(is_over, is_free)
    for place = #tickets, 1, -1 do
      local ticket = tickets[place]
      if ticket.branch == request.branch and is_own(ticket) and is_over(ticket) then
        for path in pairs(relations_of(ticket)) do
          is_free[path] = true
        end
        table.remove(tickets, place)
        forget_order()
      end
    end
  end

  -- Whether one of the files is none of the ticket's.
  local function lacks_one(ticket, paths)
    local relation_of = relations_of(ticket)
    for _, path in ipairs(paths) do
      if relation_of[path] ~= 'DIRECT' then
        return true
      end
    end
    return false
  end

  -- The caller's new ticket, or nil where there is no room for it.
  local function new_ticket(id, files, wanted, message, keeps)
    if #files > MOST_FILES_OF_HOLDER then
      return nil
    end
    local count, oldest = count_where(is_own)
    local of_holder = #files
    for _, ticket in ipairs(tickets) do
      of_holder = of_holder + (is_own(ticket) and #ticket.files or 0)
    end
    while count >= MOST_OF_HOLDER or of_holder > MOST_FILES_OF_HOLDER do
      of_holder = of_holder - #table.remove(tickets, oldest).files
      count, oldest = count_where(is_own)
    end
    local ticket = {
      id = id, user_id = request.user_id, user_name = request.user_name,
      agent_id = request.agent_id ~= '' and request.agent_id or nil, branch = request.branch, status = wanted,
      message = message, files = files, keeps = keeps or nil, since = now_ms,
    }
    local bytes, bytes_of_person, of_person = #cjson.encode(ticket), #cjson.encode(ticket), 0
    for _, other in ipairs(tickets) do
      local size = #cjson.encode(other)
      bytes = bytes + size
      if other.user_id == request.user_id then
        bytes_of_person, of_person = bytes_of_person + size, of_person + 1
      end
    end
    if #tickets >= MOST_TICKETS or of_person >= MOST_OF_PERSON or bytes > MOST_BYTES or bytes_of_person > MOST_BYTES_OF_PERSON then
      return nil
    end
    tickets[#tickets + 1] = ticket
    return ticket
  end

  -- Writes the tickets back, and announces reservations.
  local function save()
    if not is_changed then
      return
    end
    is_changed = false
    local texts, last = {}, now_ms
    for index, ticket in ipairs(tickets) do
      texts[index], last = cjson.encode(ticket), math.max(last, end_of(ticket))
    end
    if #texts > 0 then
      redis.call('SET', keys.queue, '[' .. table.concat(texts, ',') .. ']', 'PX', string.format('%.0f', last - now_ms + 1))
    else
      redis.call('DEL', keys.queue)
    end
    for _, ticket in ipairs(newly_reserved) do
      if ticket.reserved then
        emit({
          type = 'lock_reserved', user = ticket.user_id, user_name = ticket.user_name, agent_id = ticket.agent_id,
          branch = ticket.branch, status = ticket.status, message = ticket.message, ticket = ticket.id,
          files = names_of(ticket.files), file_count = #ticket.files, expiry = math.floor(ticket.reserved / 1000),
          expiry_ms = ticket.reserved, time_ms = now_ms,
        })
      end
    end
    newly_reserved = {}
  end

  -- Those whose locks or tickets block the caller, as `findings` have it, while they wait for a lock of the caller, also through
  -- others: list of { user, agent or '' }.
  local function mutual(findings)
    local found, is_waiting = {}, {}
    for ticket in pairs(waiting_for_caller()) do
      is_waiting[holder_of(ticket)] = true
    end
    for _, finding in ipairs(next(is_waiting) and findings or {}) do
      local entry = finding[2] == '1' and cjson.decode(finding[5])
      if entry and is_waiting[holder_of(entry)] and #found < MOST_BEFORE then
        is_waiting[holder_of(entry)] = nil
        found[#found + 1] = { entry.user_id, entry.agent_id or '' }
      end
    end
    return found
  end

  -- The caller claims or checks `paths`, so that it does not wait for other files any more.
  local function withdraw_others(paths)
    local is_free = {}
    remove_own(function(ticket)
      return lacks_one(ticket, paths)
    end, is_free)
    reserve_for_next(is_free)
  end

  -- The caller's place after a refusal for `findings`: { ticket, position, up to MOST_BEFORE before it: list of { user, agent or '',
  -- message, since }, what mutual() gives }; {} where there is no room.
  function queue.ask(paths, wanted, message, neighbor_policy, keeps, findings)
    local files = {}
    for _, path in ipairs(paths) do
      files[#files + 1] = policy.kinds[path] ~= 'S' and path or nil
    end
    withdraw_others(files)
    local id, place = own_ticket(paths, wanted)
    local ticket = place and tickets[place]
    if ticket then
      -- The policy of the branch may be another one now.
      ticket.message, ticket.files, ticket.keeps, ticket.reserved = message, files, keeps or nil, nil
      if now_ms > (ticket.held or ticket.asked) + PAUSE_MS then
        ticket.overtaken = nil
      end
      relations[ticket], waits[ticket], orders = nil, nil, {}
    else
      ticket = new_ticket(id, files, wanted, message, keeps)
      if not ticket then
        save()
        return {}
      end
    end
    ticket.asked, ticket.held = now_ms, now_ms + (tonumber(policy.wait) or 0) * 1000
    ticket.patience = tonumber(policy.patience) * 1000
    local near, is_near, is_older = is_blocking(wanted, 'NEIGHBOR', 'WRITING', neighbor_policy) and ticket.near or {}, {}, false
    for _, path in ipairs(near) do
      is_near[path] = true
    end
    for _, finding in ipairs(findings) do
      local entry = finding[2] == '1' and finding[1] ~= 'RESERVED' and cjson.decode(finding[5])
      is_older = is_older or (entry and (entry.granted_at or entry.timestamp) * 1000 <= ticket.since)
      if entry and finding[1] == 'NEIGHBOR' and #near < MOST_NEAR and not is_near[entry.file_path] then
        near[#near + 1], is_near[entry.file_path] = entry.file_path, true
      end
    end
    ticket.near = #near > 0 and near or nil
    ticket.overtaken = ticket.overtaken or (not is_older and now_ms) or nil
    forget_order()
    save()
    local before = {}
    for index, other in ipairs(part_of(queue.before, 1, math.min(#queue.before, MOST_BEFORE))) do
      before[index] = { other.user_id, other.agent_id or '', other.message, math.floor(other.since / 1000) }
    end
    return { ticket.id, #queue.before + 1, before, mutual(findings) }
  end

  -- The caller has `paths` now, as `wanted` or for writing; those that are not in `had` it did not have before.
  function queue.leave(paths, wanted, had)
    local is_held, new, is_free = {}, {}, {}
    for _, path in ipairs(paths) do
      is_held[path], new[#new + 1] = true, not had[path] and policy.kinds[path] ~= 'S' and path or nil
    end
    remove_own(function(ticket)
      local has_all = wanted == 'WRITING' or ticket.status == wanted
      for _, path in ipairs(ticket.files) do
        has_all = has_all and is_held[path]
      end
      return has_all or lacks_one(ticket, new)
    end, is_free)
    for path in pairs(is_held) do
      is_free[path] = nil
    end
    reserve_for_next(is_free)
    save()
  end

  -- Whether the caller waits for anything but `paths`.
  function queue.is_left_for(paths)
    return count_where(function(ticket)
      return ticket.branch == request.branch and is_own(ticket) and lacks_one(ticket, paths)
    end) > 0
  end

  -- The caller works on `paths`.
  function queue.leave_for(paths)
    withdraw_others(paths)
    save()
  end

  -- The caller waits for nothing on the branch any more, and nobody else has `paths` because of it.
  function queue.released(paths)
    local is_free = {}
    for _, path in ipairs(paths) do
      is_free[path] = true
    end
    remove_own(function()
      return true
    end, is_free)
    reserve_for_next(is_free)
    save()
  end

  -- Others' locks on `paths` have ended.
  function queue.freed(paths)
    local is_free = {}
    for _, path in ipairs(paths) do
      is_free[path] = true
    end
    reserve_for_next(is_free)
    save()
  end

  return queue
end
