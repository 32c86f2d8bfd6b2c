-- What the end of a claim says of the files. Needs: team, and `files_at`: the place of its first ARGV: file_mode of tasks/file_terms,
-- and with HEAD or ABANDON the caller's new head or '', the head of its working copy, maximum importers to return and maximum bytes of
-- them, '1' if a source can be asked about the work, how many paths cost one request, then, if the source was asked, its answers:
-- file, and claim head, a space and a verdict, ...
local file_mode, new_head, agent_head, most_importers, most_importer_bytes, can_ask, paths_of_request = unpack(ARGV, files_at, files_at + 6)
local verdicts = { unpack(ARGV, files_at + 7) }

-- @include tasks/file_terms

-- Gives back the files of `task`, as locks/release_files does: nil, its answer and what stays, or what the script returns then. A
-- function, because one of Lua has 200 local names at most.
local function release_files_of(id, task, is_partial)
  -- @include tasks/release_files
end

most_importers, most_importer_bytes, can_ask = tonumber(most_importers), tonumber(most_importer_bytes), can_ask == '1'
