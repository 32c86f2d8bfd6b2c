-- The queue: a claim that was refused for others' locks has a ticket, and later claims of the same files come after it. Needs:
-- request, keys.queue, keys.locks, keys.held; and `policy` of locks/policy for findings() and ask().
--
-- The tickets are a JSON list in the order of their first refusals. They are read with the admission, so that a claim without
-- any costs nothing. A ticket: `id`, a digest of holder, branch, mode and files; `user_id`, `user_name`, `agent_id`; `branch`;
-- `status`; `message`; `files`, without shared ones; `near`, neighbors of these that blocked it when it was refused; `keeps`, if
-- it keeps the interfaces of its files; and, in Unix milliseconds, `since`; `asked`, the last time; `asked_before`; `reserved`,
-- the end of its reservation, once a script has found that it waits for nobody.
-- @include chunks
-- @include locks/entries
-- @include locks/blocking

local queue -- once it is open

-- What reads and changes the tickets; a repository without any opens it for the first refusal alone.
local function open_queue()
  if queue then
    return queue
  end
  queue = { before = {} } -- `before`: the tickets that the last findings() has found
  local RESERVED_MS, LEAST_KEPT_MS, MOST_KEPT_MS, WAITS_KEPT = 20000, 30000, 300000, 3
  local MOST_TICKETS, MOST_OF_PERSON, MOST_OF_HOLDER, MOST_BYTES, MOST_NEAR, MOST_BEFORE = 64, 16, 4, 131072, 32, 8
  -- Files of all tickets, so that no request has to look at more of them, and of those of a person.
  local MOST_FILES, MOST_FILES_OF_PERSON = 4096, 2048

  local function holder_of(one)
    return one.user_id .. ' ' .. (one.agent_id or '')
  end

  local me = holder_of(request)

  -- The last millisecond of the ticket, unless it is asked for again.
  local function end_of(ticket)
    local waited = ticket.asked - (ticket.asked_before or ticket.asked)
    local last = ticket.asked + math.min(math.max(WAITS_KEPT * waited, LEAST_KEPT_MS), MOST_KEPT_MS)
    return math.min(last, ticket.reserved or last)
  end

  local tickets, is_changed = {}, false -- the live ones

  for _, ticket in ipairs(request.queue and cjson.decode(request.queue) or {}) do
    -- One from later: the clock was set back.
    if end_of(ticket) >= now_ms and ticket.asked <= now_ms + MOST_KEPT_MS then
      tickets[#tickets + 1] = ticket
    end
  end

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

  -- Whether the ticket wants a file in a way that the earlier one excludes.
  local function has_file_of(ticket, before)
    local blocking = {}
    for _, relation in ipairs({ 'DIRECT', 'NEIGHBOR' }) do
      blocking[relation] = is_blocking(ticket.status, relation, before.status, 'interface', false, ticket.keeps) or nil
    end
    if next(blocking) then
      -- Up to 2,000 pairs of tickets have hundreds of files each: nothing is called here.
      local relation_of = relations_of(before)
      for _, path in ipairs(ticket.files) do
        local relation = relation_of[path]
        if relation and blocking[relation] then
          return true
        end
      end
    end
    return false
  end

  local orders = {} -- ticket -> earlier ticket -> what has_file_of() gives

  -- Whether the ticket at `place` comes after the one at `other`.
  local function comes_after(place, other)
    local ticket, before = tickets[place], tickets[other]
    if other >= place or before.branch ~= ticket.branch or holder_of(before) == holder_of(ticket) then
      return false
    end
    local order = orders[ticket] or {}
    orders[ticket] = order
    if order[before] == nil then
      order[before] = has_file_of(ticket, before)
    end
    return order[before]
  end

  local locks_on = {} -- file path -> live locks: list of { holder, branch, status, whether it keeps the interface }
  local blockers = {} -- file path -> how it is wanted, and on which branch -> { holder -> true, number of these }

  -- Reads the locks on these files; each file once.
  local function load_locks(paths)
    local unknown = {}
    for _, path in ipairs(paths) do
      unknown[#unknown + 1] = not locks_on[path] and path or nil
    end
    each_value(unknown, function(path, value)
      local found = {}
      for _, entry in ipairs(entries_of[path] or (value and cjson.decode(value)) or {}) do
        if not has_expired(entry) then
          found[#found + 1] = { holder_of(entry), entry.branch, entry.status, entry.interface == 'keeps' }
        end
      end
      locks_on[path], blockers[path] = found, {}
    end)
  end

  -- Those whose locks on the file are in the way of one that wants it so.
  local function blockers_of(path, branch, wanted, relation)
    local name = relation .. wanted .. branch
    if not blockers[path][name] then
      local found, count = {}, 0
      for _, lock in ipairs(locks_on[path]) do
        local holder, of_branch, status, keeps = unpack(lock)
        if of_branch == branch and not found[holder] and is_blocking(wanted, relation, status, 'interface', false, keeps) then
          found[holder], count = true, count + 1
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
          local those = blockers_of(path, ticket.branch, ticket.status, relations_of(ticket)[path])
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

  -- Whether the ticket waits for nobody.
  local function is_first(place)
    local holder = holder_of(tickets[place])
    for _, those in ipairs(waits_of(tickets[place])) do
      if those[2] > (those[1][holder] and 1 or 0) then
        return false
      end
    end
    for other = 1, place - 1 do
      if comes_after(place, other) then
        return false
      end
    end
    return true
  end

  -- Begins the reservation of a ticket that waits for nobody, and ends that of one that does.
  local function notice(place)
    local ticket, is_free = tickets[place], is_first(place)
    if is_free ~= (ticket.reserved ~= nil) then
      ticket.reserved, is_changed = is_free and now_ms + RESERVED_MS or nil, true
    end
  end

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

  -- The ticket, told of as a lock.
  local function entry_of(ticket, path)
    local last = end_of(ticket)
    return {
      key = '', file_path = path, branch = ticket.branch, user_id = ticket.user_id, user_name = ticket.user_name,
      agent_id = ticket.agent_id, status = ticket.status, agent_head = '', message = ticket.message,
      timestamp = math.floor(ticket.since / 1000), expiry = math.floor(last / 1000), expiry_ms = last, token = 0,
    }
  end

  -- Those of the `new` files for which a claim comes after the ticket. `keeps`: whether the claim keeps their interfaces.
  local function files_after(ticket, new, wanted, neighbor_policy, keeps)
    local found = {}
    if ticket.branch == request.branch and not is_own(ticket) then
      local relation_of = relations_of(ticket)
      for _, path in ipairs(new) do
        local relation = relation_of[path]
        if relation and is_blocking(wanted, relation, ticket.status, neighbor_policy, false, keeps) then
          found[#found + 1] = path
        end
      end
      table.sort(found)
    end
    return found
  end

  -- The tickets that a claim comes after, as findings of a survey: one for each of the files, unless its lock blocks the claim.
  -- What the caller holds is renewed whatever others wait for, and nobody waits for a shared file. `keeps`: whether the claim
  -- keeps the interfaces. `own`: file path -> the caller's entry.
  function queue.findings(paths, wanted, neighbor_policy, keeps, own)
    queue.before = {}
    local new, findings, is_named = {}, {}, {}
    for _, path in ipairs(paths) do
      local entry = own[path]
      local is_new = policy.kinds[path] ~= 'S' and (not entry or (entry.status ~= wanted and entry.status ~= 'WRITING'))
      new[#new + 1] = is_new and path or nil
    end
    local _, own_place = own_ticket(paths, wanted)
    local waits_for_me
    for place = 1, (own_place or #tickets + 1) - 1 do
      local ticket = tickets[place]
      local files = files_after(ticket, new, wanted, neighbor_policy, keeps)
      waits_for_me = waits_for_me or (#files > 0 and waiting_for_caller())
      if #files > 0 and not waits_for_me[ticket] then
        notice(place)
        queue.before[#queue.before + 1] = ticket
        for _, path in ipairs(files) do
          if not is_named[path] and not is_locked(path, wanted) then
            findings[#findings + 1] = { 'RESERVED', '1', path, '', entry_of(ticket, path) }
          end
          is_named[path] = true
        end
      end
    end
    return findings
  end

  -- Removes the caller's tickets on the branch for which `is_over(ticket)`.
  local function remove_own(is_over)
    for place = #tickets, 1, -1 do
      local ticket = tickets[place]
      if ticket.branch == request.branch and is_own(ticket) and is_over(ticket) then
        table.remove(tickets, place)
        is_changed, waiting = true, nil
      end
    end
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

  local function is_of_person(ticket)
    return ticket.user_id == request.user_id
  end

  -- Whether there is room for so many more files in tickets.
  local function has_room_for(more)
    local all, of_person = more, more
    for _, ticket in ipairs(tickets) do
      local count = #ticket.files + #(ticket.near or {})
      all, of_person = all + count, of_person + (is_of_person(ticket) and count or 0)
    end
    return all <= MOST_FILES and of_person <= MOST_FILES_OF_PERSON
  end

  -- The caller's new ticket, or nil where there is no room for it.
  local function new_ticket(id, files, wanted, message, keeps)
    local count, oldest = count_where(is_own)
    if count >= MOST_OF_HOLDER then
      table.remove(tickets, oldest)
    end
    if #tickets >= MOST_TICKETS or count_where(is_of_person) >= MOST_OF_PERSON or not has_room_for(#files) then
      return nil
    end
    local ticket = {
      id = id, user_id = request.user_id, user_name = request.user_name,
      agent_id = request.agent_id ~= '' and request.agent_id or nil, branch = request.branch, status = wanted,
      message = message, files = files, keeps = keeps or nil, since = now_ms, asked = now_ms,
    }
    if #(request.queue or '') + #cjson.encode(ticket) > MOST_BYTES then
      return nil
    end
    tickets[#tickets + 1] = ticket
    return ticket
  end

  -- Writes the tickets back.
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

  -- The caller's place after a refusal for `findings`: { ticket, position, up to MOST_BEFORE before it: list of { user, agent or '',
  -- message, since }, what mutual() gives }; {} where there is no room.
  function queue.ask(paths, wanted, message, neighbor_policy, keeps, findings)
    local id, place = own_ticket(paths, wanted)
    local ticket, files = place and tickets[place], {}
    waiting = nil
    for _, path in ipairs(paths) do
      files[#files + 1] = policy.kinds[path] ~= 'S' and path or nil
    end
    if ticket then
      ticket.asked_before, ticket.asked, ticket.message = ticket.asked, now_ms, message
      -- The policy of the branch may be another one now.
      ticket.files, ticket.keeps, ticket.reserved = files, keeps or nil, nil
      relations[ticket], waits[ticket], orders = nil, nil, {}
    else
      ticket = new_ticket(id, files, wanted, message, keeps)
      if not ticket then
        return {}
      end
    end
    is_changed = true
    local near, is_near = is_blocking(wanted, 'NEIGHBOR', 'WRITING', neighbor_policy) and ticket.near or {}, {}
    for _, path in ipairs(near) do
      is_near[path] = true
    end
    for _, finding in ipairs(findings) do
      local path = finding[1] == 'NEIGHBOR' and finding[2] == '1' and #near < MOST_NEAR and cjson.decode(finding[5]).file_path
      if path and not is_near[path] then
        near[#near + 1], is_near[path] = path, true
      end
    end
    ticket.near = #near > 0 and near or nil
    save()
    local before = {}
    for index, other in ipairs(part_of(queue.before, 1, math.min(#queue.before, MOST_BEFORE))) do
      before[index] = { other.user_id, other.agent_id or '', other.message, math.floor(other.since / 1000) }
    end
    return { ticket.id, #queue.before + 1, before, mutual(findings) }
  end

  -- The caller has `paths` now, as `wanted` or for writing.
  function queue.leave(paths, wanted)
    local is_held = {}
    for _, path in ipairs(paths) do
      is_held[path] = true
    end
    remove_own(function(ticket)
      for _, path in ipairs(ticket.files) do
        if not is_held[path] then
          return false
        end
      end
      return wanted == 'WRITING' or ticket.status == wanted
    end)
    save()
  end

  -- The caller wants none of `paths` any more, or, with `is_everything`, nothing on the branch. The tickets that are first now have
  -- a reservation.
  function queue.released(paths, is_everything)
    local is_released = {}
    for _, path in ipairs(paths) do
      is_released[path] = true
    end
    local function is_about(ticket, has_neighbors)
      for path, relation in pairs(relations_of(ticket)) do
        if is_released[path] and (has_neighbors or relation == 'DIRECT') then
          return true
        end
      end
      return false
    end
    remove_own(function(ticket)
      return is_everything or is_about(ticket, false)
    end)
    for place, ticket in ipairs(tickets) do
      if ticket.branch == request.branch and is_about(ticket, true) then
        notice(place)
      end
    end
    save()
  end

  return queue
end
