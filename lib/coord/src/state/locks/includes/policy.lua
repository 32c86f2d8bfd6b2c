-- What `.coord.toml` says of the files of a request. Rust matches patterns; scripts compare the digest of the policy by which it has. Needs:
-- keys.graph, and `policy`, made in the first block of a script: { digest = of the policy that Rust has judged by, or '', judged = the
-- files that it has judged, letters = one for each of them: S shared, I ignored, - neither, names = those of shared files where there is
-- no policy, each between newlines, if only the store knows the files }.
-- @include builds/graph_age

policy.kinds = {} -- file path -> letter, where the file was judged
for index, path in ipairs(policy.judged) do
  policy.kinds[path] = string.sub(policy.letters, index, index)
end

-- Whether all of `files` were judged by the policy of the branch.
policy.has_judged = function(files)
  local digest = load_graph()[4] or ''
  local is_judged = digest == policy.digest
  for _, path in ipairs(files) do
    if is_judged and digest == '' and policy.names and not policy.kinds[path] then
      local name = string.match(path, '[^/]*$')
      policy.kinds[path] = string.find(policy.names, '\n' .. name .. '\n', 1, true) and 'S' or '-'
    end
    is_judged = is_judged and policy.kinds[path] ~= nil
  end
  return is_judged
end

-- The question for that.
policy.question = function(files)
  local digest = load_graph()[4] or ''
  return { 'ASK_POLICY', now, digest, digest ~= '' and redis.call('HGET', keys.graph, 'policy') or '', files }
end

-- `paths` without the ignored ones, and texts that have as many characters for each path, without theirs.
policy.kept = function(paths, ...)
  if policy.letters and not string.find(policy.letters, 'I', 1, true) then
    return paths, ...
  end
  local kept, places, texts = {}, {}, { ... }
  for place, path in ipairs(paths) do
    if policy.kinds[path] ~= 'I' then
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
