-- force_release: releases others' locks on some files of the branch. The server has checked that the caller may do this.
-- KEYS, ARGV: those of admission/request, with `message`: why, and `paths`
-- Returns { FORCED, now, answer }: `locks`, each with `file_path`, and the holder's `user` and `agent_id`, and `waiting`: what
--           Waiting.of_caller() returns
--      or TOO_MUCH (Answer.too_much(), LOCKS): there are too many on these files; nothing changed
--      or one of the denials of Admission.admit(); nothing changed
local Admission = require('admission/admission')
local Answer = require('answer')
local Entries = require('locks/entries')
local Held = require('locks/held')
local LockChanges = require('locks/changes')
local Queue = require('locks/queue')
local Request = require('admission/request')
local ForceReleased = require('locks/force_released')
local Waiting = require('seams/waiting')

return function(KEYS, ARGV)
  local call = Admission.begin(KEYS, ARGV)
  local message, paths = call.request.message, call.request.paths
  Entries.begin(call)
  Held.begin(call)

  local denial = Admission.admit(call)
  if denial then
    return denial
  end
  if not Entries.load(call, paths, Entries.MAX_AT_ONCE) then
    return Answer.too_much(call, 'LOCKS')
  end
  local ended, locks, releases, release_of = {}, {}, ForceReleased.load(call), {}
  for _, path in ipairs(paths) do
    local remaining = {}
    for _, entry in ipairs(call.entries_of[path]) do
      if entry.branch ~= call.request.branch or Request.is_own(call, entry) then
        remaining[#remaining + 1] = entry
      else
        Held.count_out(call, entry)
        entry.message, entry.forced_by = message, call.request.user_id
        ended[#ended + 1] = entry
        locks[#locks + 1] = { file_path = path, user = entry.user_id, agent_id = entry.agent_id }
        local holder = entry.user_id .. ' ' .. (entry.agent_id or '')
        if not release_of[holder] then
          release_of[holder] = {
            user_id = entry.user_id,
            agent_id = entry.agent_id,
            branch = call.request.branch,
            files = {},
            by = call.request.user_id,
            message = message,
            time = call.now,
          }
          releases[#releases + 1] = release_of[holder]
        end
        table.insert(release_of[holder].files, path)
      end
    end
    if #remaining < #call.entries_of[path] then
      call.entries_of[path], call.is_changed[path] = remaining, true
    end
  end
  LockChanges.save(call)
  if #ended > 0 then
    LockChanges.emit_by_claim(call, 'lock_released', ended)
    ForceReleased.save(call, releases)
    if call.request.queue then
      Queue.reserve_freed(call, paths)
    end
  end
  return Answer.reply(call, 'FORCED', { locks = Answer.some(locks), waiting = Answer.some(Waiting.of_caller(call)) })
end
