-- The policy of `.coord.toml` for the files of a request. Rust matches patterns; scripts compare the digest of the policy by which it
-- has.
local Answer = require('answer')
local GraphAge = require('builds/graph_age')

local Policy = {}

-- `policy` of the request (`policy.rs`): `neighbors`: block, interface (where it is absent), warn or off; `digest` of the policy that Rust
-- has judged by, absent for none; `letters`: for each of `paths` S: shared, I: ignored, or -: neither, absent where all are neither;
-- `names`: those of shared files where there is no policy, each between newlines, if only the store knows the files; `interface`: keeps,
-- changes, or absent; `changed`: files whose interfaces change whatever that says; `wait`: seconds for which the server holds the claim,
-- and `patience`: see locks/queue. Then it has `kinds`: file path -> letter, where the file was judged.
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

-- The question for that, ASK_POLICY: `digest` of the policy of the branch and its `text`, absent for none, and the `files`.
function Policy.question(call, files)
  local digest = GraphAge.load(call)[4]
  digest = digest and digest ~= '' and digest or nil
  local text = digest and redis.call('HGET', call.keys.graph, 'policy') or nil
  return Answer.reply(call, 'ASK_POLICY', { digest = digest, text = text, files = Answer.some(files) })
end

-- `paths` without the ignored ones, and texts that have as many characters for each path, without theirs.
function Policy.kept(call, paths, ...)
  if not call.policy.has_ignored then
    return paths, ...
  end
  local kept, places, texts = {}, {}, { ... }
  for place, path in ipairs(paths) do
    if call.policy.kinds[path] ~= 'I' then
      kept[#kept + 1], places[#places + 1] = path, place
    end
  end
  if #kept == #paths then
    return paths, ...
  end
  for number, text in ipairs(texts) do
    local width, parts = #text / #paths, {}
    for index, place in ipairs(places) do
      parts[index] = string.sub(text, (place - 1) * width + 1, place * width)
    end
    texts[number] = table.concat(parts)
  end
  return kept, unpack(texts)
end

return Policy
