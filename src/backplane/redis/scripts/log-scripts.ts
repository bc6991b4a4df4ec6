import type { RedisScript } from './script.ts'

/** Positions of entries, and whether the engine has removed any because the log was long. */
const position = `
local function place(id)
  local epoch, n = string.match(id, '^(%d+)%-(%d+)$')
  return tonumber(epoch), tonumber(n)
end
local function wasTrimmed()
  local info, facts = redis.call('XINFO', 'STREAM', KEYS[1]), {}
  for at = 1, #info, 2 do facts[info[at]] = info[at + 1] end
  return facts['entries-added'] > facts['length']
end
`

/**
 * Appends entries under ids that the writer chose; the engine itself refuses ids that are not behind the last one.
 * KEYS: log. ARGV: ttlMs, entries to keep, then for each entry its epoch, n, number of fields, and the fields.
 */
export const appendScript: RedisScript = {
  text: `${position}
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local lastEpoch, lastN = -1, -1
if last then lastEpoch, lastN = place(last[1]) end

local function isStored(at, epoch, n, fields)
  local id = ARGV[at] .. '-' .. ARGV[at + 1]
  local found = redis.call('XRANGE', KEYS[1], id, id)[1]
  if found then
    if #found[2] ~= 2 * fields then return false end
    for field = 1, 2 * fields do
      if found[2][field] ~= ARGV[at + 2 + field] then return false end
    end
    return true
  end
  -- Otherwise it may be an entry of the last writer that was removed because the log was long.
  if epoch ~= lastEpoch or not wasTrimmed() then return false end
  local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
  local firstEpoch, firstN = place(first[1])
  return epoch < firstEpoch or (epoch == firstEpoch and n < firstN)
end

local fresh = {}
local at = 3
while ARGV[at] do
  local epoch, n, fields = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  if epoch > lastEpoch or (epoch == lastEpoch and n > lastN) then
    fresh[#fresh + 1] = at
  elseif not isStored(at, epoch, n, fields) then
    return {'fenced'}
  end
  at = at + 3 + 2 * fields
end
for _, at in ipairs(fresh) do
  local id = ARGV[at] .. '-' .. ARGV[at + 1]
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], id, unpack(ARGV, at + 3, at + 2 + 2 * ARGV[at + 2]))
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return {'done'}
`,
}

/**
 * Reads entries, without the marks of claims, whose n is 0. KEYS: log. ARGV: epoch or '', n, most entries.
 */
export const readScript: RedisScript = {
  text: `${position}
local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
if not first then return {ARGV[1] == '' and 1 or 0, {}} end
local from, complete = '-', false
if ARGV[1] ~= '' then
  from = '(' .. ARGV[1] .. '-' .. ARGV[2]
  local epoch, n = place(first[1])
  local given = tonumber(ARGV[1])
  complete = epoch < given or (epoch == given and n <= tonumber(ARGV[2]))
end
if not complete then complete = not wasTrimmed() end
local entries, most = {}, tonumber(ARGV[3])
repeat
  local page = redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', most)
  for _, entry in ipairs(page) do
    local _, n = place(entry[1])
    if n > 0 and #entries < most then entries[#entries + 1] = entry end
    from = '(' .. entry[1]
  end
until #page < most or #entries == most
return {complete and 1 or 0, entries}
`,
}
