-- Tasks of a member that stops. Needs: team.
-- @include tasks/task
-- @include tasks/notes

-- Ends all claims of the member, with a note; returns the ids. The caller saves the member.
local function give_back(record, text)
  local ids = {}
  for id in string.gmatch(record.claims, '%S+') do
    local task = current_task(id)
    if task and is_owned_by(task, record) then
      add_note(id, text)
      -- Their locks stay until they expire: nobody knows whether the work is pushed.
      task.locked = nil
      end_one_claim(id, task, 'RELEASED')
      ids[#ids + 1] = id
    end
  end
  record.claims, record.renew_at = '', nil
  save_offers()
  return ids
end
