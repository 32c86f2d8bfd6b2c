-- What a check says of intents: what a claim would be refused for. Changes nothing.
-- @include locks/gate

if record and record.status == 'IN_PROGRESS' and not limit then
  warn_of_budget()
end
