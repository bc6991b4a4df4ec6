import { engineClock, type RedisScript } from './script.ts'

/**
 * A record is stored as "<epoch> <node> <flag> <value>". Without an owner the epoch is 0 and the node "-". The flag
 * is "f" for a final record, "d" for a deleted one of which only the epoch is known, else "-".
 */
const record = `
local stored = redis.call('GET', KEYS[1])
local epoch, node, flag, start = 0, '-', '-', 1
if stored then
  epoch, node, flag, start = string.match(stored, '^(%d+) (%S+) (%S) ()')
end
local held = tonumber(epoch)
local exists = stored and flag ~= 'd'
`

const script = (...parts: readonly string[]): RedisScript => ({ text: parts.join('') })

/** KEYS: record, log. ARGV: from or '', node, '1' with a write, value, ttlMs, flag. */
export const claimScript = script(
  engineClock,
  record,
  `
if exists then
  if flag == 'f' then return {'final'} end
  if node ~= '-' and node ~= ARGV[1] then return {'owned', epoch, node} end
elseif ARGV[3] ~= '1' then
  return {'none'}
end
local mine = math.max(us, held + 1)
local top = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
if top then
  mine = math.max(mine, tonumber(string.match(top[1], '^%d+')) + 1)
end
local id = whole(mine)
if ARGV[3] == '1' then
  redis.call('SET', KEYS[1], id .. ' ' .. ARGV[2] .. ' ' .. ARGV[6] .. ' ' .. ARGV[4], 'PX', ARGV[5])
else
  redis.call('SET', KEYS[1], id .. ' ' .. ARGV[2] .. ' - ' .. string.sub(stored, start), 'KEEPTTL')
end
if top or node ~= '-' then
  redis.call('XADD', KEYS[2], id .. '-0', 'owner', ARGV[2])
  local left = redis.call('PTTL', KEYS[1])
  if redis.call('PTTL', KEYS[2]) < left then redis.call('PEXPIRE', KEYS[2], left) end
end
return {'mine', id, exists and stored or false}
`,
)

/** KEYS: record. ARGV: node, epoch, value, ttlMs, flag, '1' if it must exist. */
export const putScript = script(
  record,
  `
local mine = tonumber(ARGV[2])
if stored then
  if flag == 'f' and not (held == mine and node == ARGV[1] and ARGV[5] == 'f'
      and string.sub(stored, start) == ARGV[3]) then
    return {'final'}
  end
  if held > mine or (held == mine and (node > ARGV[1] or flag == 'd')) then
    return {'fenced', epoch, node}
  end
elseif ARGV[6] == '1' then
  return {'fenced'}
end
redis.call('SET', KEYS[1], ARGV[2] .. ' ' .. ARGV[1] .. ' ' .. ARGV[5] .. ' ' .. ARGV[3], 'PX', ARGV[4])
return {'done'}
`,
)

/** KEYS: record. ARGV: '1' if there is a text before, that text, value, ttlMs, flag. */
export const swapScript = script(
  record,
  `
if stored then
  if node ~= '-' then return {'fenced', epoch, node} end
  local value = string.sub(stored, start)
  if ARGV[1] ~= '1' or value ~= ARGV[2] then return {'changed', value} end
  if flag == 'f' then return {'final'} end
elseif ARGV[1] == '1' then
  return {'none'}
end
redis.call('SET', KEYS[1], '0 - ' .. ARGV[5] .. ' ' .. ARGV[3], 'PX', ARGV[4])
return {'done'}
`,
)

/** KEYS: record. ARGV: node or '', epoch, life of the tombstone in ms. */
export const deleteScript = script(
  record,
  `
local found = exists and 1 or 0
if ARGV[1] == '' then
  if exists and node ~= '-' then return {'fenced', epoch, node} end
  if exists then redis.call('DEL', KEYS[1]) end
  return {'done', found}
end
local mine = tonumber(ARGV[2])
if stored and (held > mine or (held == mine and node > ARGV[1])) then
  return {'fenced', epoch, node}
end
redis.call('SET', KEYS[1], ARGV[2] .. ' ' .. ARGV[1] .. ' d ', 'PX', ARGV[3])
return {'done', found}
`,
)

/** KEYS: set. ARGV: name, ttlMs, most names or ''. */
export const addScript = script(
  engineClock,
  `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', exact(now))
if ARGV[3] ~= '' and not redis.call('ZSCORE', KEYS[1], ARGV[1])
    and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
  return {'full'}
end
redis.call('ZADD', KEYS[1], exact(now + ARGV[2]), ARGV[1])
if redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2] + 1)
end
return {'done'}
`,
)

/** KEYS: set. ARGV: score of the last name of the page before or '', that name, most names. */
export const namesScript = script(
  engineClock,
  `
local first = redis.call('ZCOUNT', KEYS[1], '-inf', exact(now))
if ARGV[1] ~= '' then
  local behind = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. ARGV[1])
  local score = redis.call('ZSCORE', KEYS[1], ARGV[2])
  if score and tonumber(score) == tonumber(ARGV[1]) then
    behind = redis.call('ZRANK', KEYS[1], ARGV[2]) + 1
  end
  first = math.max(first, behind)
end
return redis.call('ZRANGE', KEYS[1], first, first + ARGV[3] - 1, 'WITHSCORES')
`,
)
