import { name as tool } from './mcp/tool.js'
import { inside, ours } from './ours.js'
import { table } from './report.js'

export const TOOLS = 200
const RULES = 100

/** Returns a policy with many rules, of which some allow every tool to callers with a scope. */
export function policyOf(rules = RULES) {
  const all = Array.from({ length: rules }, (_, at) => ({
    name: `rule ${at}`,
    who: { scopes: ['notes:read'], claims: { client_id: [`app-${at}`, 'bench'] } },
    allow: [`${tool}_${at}*`, `other_${at}`],
  }))
  const wide = { name: 'all', who: { scopes: ['notes:write'] }, allow: [`${tool}*`, 'usage'] }
  return { default: 'deny', rules: [...all.slice(1), wide] }
}

/** Measures lists and decisions of a large policy, in this process. */
export async function policyFigures() {
  const { Router } = await ours('router/index')
  const { CompiledPolicy } = await inside('router/access/compiled-policy')
  const { Server, connect } = await ours('index')
  const server = new Server({ name: 'many', version: '1' })
  for (let at = 0; at < TOOLS; at++) server.tool(`${tool}_${at}`, {}, () => 'done')
  const router = new Router({ servers: { s: { server, prefix: false } }, policy: policyOf() })
  await router.ready()
  const first = []
  const later = []
  for (let at = 0; at < 1000; at++) {
    const principal = { id: `user ${at}`, scopes: ['notes:write'], claims: { client_id: `c${at}` } }
    const endpoint = {
      ...endpointOf(router),
      attach: channel => router.attach(channel, { principal }),
    }
    const client = await connect(endpoint)
    first.push(await timed(() => listAll(client)))
    later.push(await timed(() => listAll(client)))
    await client.close()
  }
  await router.close()
  const large = policyOf(10_000)
  const entries = Array.from({ length: 1000 }, (_, at) => {
    return { route: { name: 's' }, shown: { name: `${tool}_${at}` } }
  })
  const principal = { id: 'x', scopes: ['notes:read'], claims: { client_id: 'bench' } }
  let access
  const compiled = await timed(() => {
    access = new CompiledPolicy(large).accessOf(principal)
    for (const entry of entries) access.onEntry('tool', entry)
  })
  const again = await timed(() => {
    for (let round = 0; round < 1000; round++) {
      for (const entry of entries) access.onEntry('tool', entry)
    }
  })
  return table(
    ['', 'ms'],
    [
      [`first tools/list of ${TOOLS} tools, each of 1000 principals, median`, ms(median(first))],
      ['the same, 99th percentile', ms(percentile(first, 0.99))],
      ['later tools/list, median', ms(median(later))],
      ['the same, 99th percentile', ms(percentile(later, 0.99))],
      ['10 000 rules compiled and decided for 1000 tools', ms(compiled)],
      ['1 000 000 cached decisions', ms(again)],
    ],
  )
}

const endpointOf = ({ handle, profile, revisions }) => ({ handle, profile, revisions })
const listAll = async client => {
  for await (const _ of client.tools({ fresh: true }));
}
const ms = value => value.toFixed(3)
const percentile = (values, at) => values.toSorted((a, b) => a - b)[Math.floor(values.length * at)]
const median = values => percentile(values, 0.5)

async function timed(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}
