-- The policy of `.coord.toml` for the files of a request. Rust matches its patterns; scripts check that Rust used the policy of the branch,
-- by its digest.
local Answer = require('answer')
local GraphAge = require('builds/graph_age')

local Policy = {}

-- `policy` of the request (`policy.rs`): `neighbors`: block, interface (if absent), warn or off; `digest` of the policy by which Rust judged
-- the files, absent for none; `letters`: for each of `paths` S: shared, I: ignored, or -: neither, absent if all are neither; `names` of
-- shared files if there is no policy, each between newlines, if only the store knows the files; `interface`: keeps, changes, or absent;
-- `changed`: files whose interfaces change regardless of that; `wait`: seconds for which the server holds the claim, and `patience`: see
-- locks/queue. begin() adds `kinds`: file path -> letter, for judged files.
function Policy.begin(call, paths)
  local policy = call.request.policy or {}
  local letters, kinds = policy.letters, {}
  for index, path in ipairs(paths) do
    kinds[path] = letters and string.sub(letters, index, index) or '-'
  end
  policy.digest, policy.kinds, policy.neighbors = policy.digest or '', kinds, policy.neighbors or 'interface'
  policy.has_ignored = letters and string.find(letters, 'I', 1, true)
  call.policy = policy
end

-- Whether all of `files` were judged by the policy of the branch.
function Policy.has_judged(call, files)
  local digest = GraphAge.load(call)[4] or ''
  local is_judged = digest == call.policy.digest
  for _, path in ipairs(files) do
    if is_judged and digest == '' and call.policy.names and not call.policy.kinds[path] then
      local name = string.match(path, '[^/]*$')
      call.policy.kinds[path] = string.find(call.policy.names, '\n' .. name .. '\n', 1, true) and 'S' or '-'
    end
    is_judged = is_judged and call.policy.kinds[path] ~= nil
  end
  return is_judged
end

-- The question ASK_POLICY: `digest` of the policy of the branch and its `text`, absent for none, and the `files` to judge.
function Policy.question(call, files)
  local digest = GraphAge.load(call)[4]
  digest = digest and digest ~= '' and digest or nil
  local text = digest and redis.call('HGET', call.keys.graph, 'policy') or nil
  return Answer.reply(call, 'ASK_POLICY', { digest = digest, text = text, files = Answer.some(files) })
end

-- `paths` without the ignored ones; and each of the given texts, which have the same number of characters for each path, without the
-- characters of ignored paths.
function Policy.without_ignored(call, paths, ...)
  if not call.policy.has_ignored then
    return paths, ...
  end
  local kept, indices, texts = {}, {}, { ... }
  for index, path in ipairs(paths) do
    if call.policy.kinds[path] ~= 'I' then
      kept[#kept + 1], indices[#indices + 1] = path, index
    end
  end
  if #kept == #paths then
    return paths, ...
  end
  for number, text in ipairs(texts) do
    local width, parts = #text / #paths, {}
    for position, index in ipairs(indices) do
      parts[position] = string.sub(text, (index - 1) * width + 1, index * width)
    end
    texts[number] = table.concat(parts)
  end
  return kept, unpack(texts)
end

return Policy
