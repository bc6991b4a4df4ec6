import { randomBytes } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { httpContestant, openLink, writer } from './http-client.js'
import { name as tool } from './mcp/tool.js'
import { toolRequest } from './mcp/wire.js'
import { compare } from './measure.js'
import { policyFigures, policyOf, TOOLS } from './policy.js'
import { aim, list, table } from './report.js'

const issuer = 'https://as.example.com'
const resource = 'https://tools.example.com/mcp'
const CONNECTIONS = 32
const FORGED = 100_000
const FLOODING = 8
const ADDRESSES = 100

/** Measures tool calls over HTTP with and without tokens, and what forged tokens cost the other callers. */
export async function auth({ rounds, seconds = 0.2, only, alone, log }) {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }] }
  const tokens = await Promise.all(Array.from({ length: 1000 }, (_, at) => token(privateKey, at)))
  const guarded = ['http-guarded', JSON.stringify({ issuer, resource, jwks })]
  const reports = []
  for (const [what, headers, least] of [
    ['one token per connection', [bearer(tokens[0])], 0.85],
    ['1000 tokens in turn', tokens.map(bearer), 0.8],
  ]) {
    const title = `MCP over HTTP with authorization, ${what}, ${CONNECTIONS} connections`
    if (!title.includes(only)) continue
    log(title)
    const contestants = [
      contestant('trunkline', ['http-trunkline'], headers),
      contestant('trunkline, JWT', guarded, headers),
    ]
    const results = await compare(contestants, { rounds, seconds, alone })
    const aims = [aim(results, { who: 'trunkline, JWT', than: 'trunkline', least })]
    const workload = { name: what, results, aims }
    reports.push({ title, notes, workloads: [workload], text: list(workload) })
  }
  const policyTitle = `MCP over HTTP through a router with an access policy, ${CONNECTIONS} connections`
  if (policyTitle.includes(only)) {
    log(policyTitle)
    const settings = { issuer, resource, jwks, tools: TOOLS }
    const router = (called, policy) => {
      const program = ['router-guarded', JSON.stringify({ ...settings, policy })]
      return contestant(called, program, [bearer(tokens[0])])
    }
    const contestants = [router('router, JWT'), router('router, JWT, policy', policyOf())]
    const results = await compare(contestants, { rounds, seconds, alone })
    const aims = [aim(results, { who: 'router, JWT, policy', than: 'router, JWT', least: 0.95 })]
    const workload = { name: 'policy', results, aims }
    const text = `${list(workload)}\n\n${await policyFigures()}`
    reports.push({ title: policyTitle, notes: policyNotes, workloads: [workload], text })
  }
  const title = `MCP over HTTP with authorization, ${FORGED} forged tokens`
  if (title.includes(only)) {
    log(title)
    const good = contestant('trunkline, JWT', guarded, [bearer(tokens[0])])
    reports.push({ title, notes: floodNotes, workloads: [], text: await flood(good, tokens[0]) })
  }
  return reports
}

const notes = [
  'tools/call to a server in a separate process. The same headers are sent to the server without `auth`, which ignores them.',
]

const policyNotes = [
  `tools/call through a router to a server in its process, with ${TOOLS} tools, with and without a policy of 100 rules.`,
  'Lists and decisions are measured in one process, without a network.',
]

const floodNotes = [
  `${FORGED} tokens with a wrong signature and the right issuer, audience and key, from ${ADDRESSES} addresses on ${FLOODING}`,
  'connections, while good callers call on others. The heap is that of the server after a collection.',
]

function contestant(name, program, headers) {
  const about = { era: 'stateless', answers: 'json', connections: CONNECTIONS }
  return httpContestant({ name, program, headers, ...about })
}

const bearer = text => `authorization: Bearer ${text}`

function token(key, at) {
  const claims = { sub: `user ${at}`, scope: 'notes:read notes:write', client_id: 'bench' }
  const head = { alg: 'ES256', kid: 'k1', typ: 'at+jwt' }
  return new SignJWT(claims)
    .setProtectedHeader(head)
    .setIssuer(issuer)
    .setAudience(resource)
    .setIssuedAt()
    .setExpirationTime('2h')
    .sign(key)
}

async function flood(good, token) {
  const statuses = new Map()
  await good.open()
  try {
    await good.check()
    await good.prepare()
    const before = { heap: Number(await good.ask('heap')), ...(await rateFor(good, () => false)) }
    let isOver = false
    const sending = sendForged(good.port(), token, statuses).then(() => {
      isOver = true
    })
    await good.prepare()
    const during = await rateFor(good, () => !isOver)
    await sending
    const heap = Number(await good.ask('heap'))
    const rows = [
      ['good calls, 1/s', before.rate, during.rate, (during.rate / before.rate).toFixed(2)],
      ['heap, MiB', mib(before.heap), mib(heap), mib(heap - before.heap)],
    ].map(row => row.map(value => (typeof value === 'number' ? value.toFixed(0) : value)))
    const answered = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
    return `${table(['', 'before', 'with forged tokens', 'ratio, growth'], rows)}\n\nforged: ${answered}`
  } finally {
    await good.close()
  }
}

const mib = bytes => (bytes / 2 ** 20).toFixed(1)

/** Calls for a second, and longer for as long as `goesOn` returns true. */
async function rateFor(good, goesOn) {
  const start = performance.now()
  let calls = 0
  while (goesOn() || performance.now() - start < 1000) {
    await good.run(256)
    calls += 256
  }
  return { rate: (calls / (performance.now() - start)) * 1000 }
}

/** Sends forged tokens, one at a time on each connection, and counts the statuses of the responses. */
async function sendForged(port, token, statuses) {
  const post = writer(port, 'stateless', 'application/json')
  const text = toolRequest('stateless', 1)
  const signed = token.slice(0, token.lastIndexOf('.') + 1)
  let left = FORGED
  const work = async () => {
    const link = await openLink(port)
    while (left-- > 0) {
      const forged = bearer(signed + randomBytes(64).toString('base64url'))
      const from = `x-forwarded-for: 198.51.100.${left % ADDRESSES}`
      const answer = await link.ask(post(text, 'tools/call', tool, `${forged}\r\n${from}`))
      const status = answer.slice(9, 12)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    link.close()
  }
  await Promise.all(Array.from({ length: FLOODING }, work))
}
