-- What a claim of a task with its files needs. Needs: team, file_terms, and `gate_at`: the place of the first ARGV of
-- locks/gate_request, behind which are neighbor policy, the digest of locks/policy, a line with letter and path for each file that was
-- judged by it, its names, the text of read_interface(), the seconds of patience of locks/queue, the caller's head, the repository, how many
-- paths cost one request, and the files that the gate has judged.
local neighbor_policy, policy = ARGV[gate_at + 11], {
  digest = ARGV[gate_at + 12], judged = {}, lines = ARGV[gate_at + 13], names = ARGV[gate_at + 14], unjudged = {},
  patience = ARGV[gate_at + 16],
}
local agent_head, repository, paths_of_request = unpack(ARGV, gate_at + 17, gate_at + 19)
local judged_paths = { unpack(ARGV, gate_at + 20) }

-- @include tasks/file_terms
-- @include locks/claiming
local interface_of = read_interface(ARGV[gate_at + 15] or '')
-- @include teams/suggested

for letter, path in string.gmatch(policy.lines or '', '(.)([^\n]*)\n') do
  policy.kinds[path] = letter
end
local surveyed -- what survey() gives of the files that are claimed

-- Claims the files of `task` for writing, for `seconds`: nil and the answer of claimed() where they are granted, or what the script
-- returns then. A function, because one of Lua has 200 local names at most.
local function claim_files_of(id, task)
  -- @include tasks/claim_files
end

-- The caller's task that is out with one of these files, and that file; or nil.
local function other_task_of(id, paths)
  for _, path in ipairs(paths) do
    for _, entry in ipairs(entries_of[path]) do
      local other_team, other = string.match(is_own(entry) and entry.task or '', '^(.-)/(.+)$')
      if other and entry.task ~= task_name(id) then
        local task = other_team == team_key and load_task(other)
        if other_team ~= team_key or (task and is_owned_by(task, member)) then
          return entry.task, path
        end
      end
    end
  end
end
