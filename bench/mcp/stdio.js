import assert from 'node:assert/strict'
import { start, stop } from '../child.js'
import { compare } from '../measure.js'
import { rawClient, streamLink } from '../raw.js'
import { aim, list } from '../report.js'
import { lines } from '../wire.js'
import { answerTo, argumentsOf } from './tool.js'
import { opening, request, toolRequest } from './wire.js'

const field = [
  ['bare tool, a write per reply', 'stateless', ['mcp-bare', 'each']],
  ['bare tool, a write per chunk', 'stateless', ['mcp-bare', 'joined']],
  ['trunkline', 'stateless', ['mcp-trunkline']],
  ['trunkline, session', 'session', ['mcp-trunkline']],
  ['trunkline, JSON Schema', 'stateless', ['mcp-trunkline', 'plain']],
  ['bare tool, session', 'session', ['mcp-bare', 'joined']],
  ['SDK 1.32', 'session', ['mcp-sdk1']],
  ['SDK 2.4', 'stateless', ['mcp-sdk2']],
  ['SDK 2.4, session', 'session', ['mcp-sdk2']],
]

const modes = [
  { name: 'sequential', inFlight: 1 },
  { name: '64 in flight', inFlight: 64 },
]

/** Measures tool calls to a server in a child process. The same raw client drives all servers. */
export async function stdio({ rounds, seconds = 0.15, only, alone, log }) {
  const reports = []
  const bytes = toolRequest('stateless', 500).length
  for (const { name, inFlight } of modes) {
    const title = `MCP stdio server, ${name}`
    if (!title.includes(only)) continue
    log(title)
    const contestants = field.map(([label, era, program]) =>
      rawClient(label, () => openStdio(era, program), inFlight, workOf(era)),
    )
    const results = await compare(contestants, { rounds, seconds, floors: 2, alone })
    const workload = { name, bytes, results, aims: inFlight > 1 ? aimsOf(results) : [] }
    reports.push({ title, notes: notesOf(bytes), workloads: [workload], text: list(workload) })
  }
  return reports
}

// Sequential calls measure little else than how long two processes take to wake each other.
const aimsOf = results => [
  aim(results, { than: 'the floor', least: 0.8 }),
  aim(results, { than: 'SDK 1.32', least: 2.5 }),
  aim(results, { than: 'trunkline, session', least: 0.8, most: 1.25 }),
]

function notesOf(bytes) {
  return [
    `tools/call as lines of ${bytes} bytes (session: ${toolRequest('session', 500).length}), over one connection to a separate process. The same`,
    'raw client drives every server and counts responses; before that it checks that they match their requests. All but the',
    'floors validate the arguments with Zod, one of ours with plain JSON Schema. The floors only run the tool.',
  ]
}

/**
 * The requests that are sent to a server, and how its responses are checked. The tool `usage` returns the
 * CPU time of the process under test.
 */
export function workOf(era, usage = 'usage') {
  const call = name => request(era, name, 'tools/call', { name, arguments: {} })
  return {
    request: id => toolRequest(era, id),
    check(id, reply) {
      assert.equal(reply.id, id)
      assert.equal(reply.result.content[0].text, answerTo(argumentsOf(id)))
    },
    usage: call(usage),
    turn: call('turn'),
    microsOf: reply => Number(reply.result.content[0].text),
  }
}

/** Starts a server, performs the handshake and returns a link to it. */
export async function openStdio(era, program) {
  const child = start(...program)
  const close = () => stop(child)
  const link = streamLink({ input: child.stdout, output: child.stdin, wire: lines, close })
  link.broken.catch(() => {})
  const { request: first, notifications } = opening(era)
  await Promise.race([link.ask(first), link.broken])
  for (const text of notifications) child.stdin.write(lines.frame(text))
  return link
}
