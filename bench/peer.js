import assert from 'node:assert/strict'
import { bareObjects, jsonRpc2, sdk, trunkline, vscode } from './in-process.js'
import { elsewhere } from './mcp/elsewhere.js'
import { compare, isOurs } from './measure.js'
import { list } from './report.js'

const field = [
  ['bare objects', () => bareObjects(queueMicrotask)],
  ['bare objects, called directly', () => bareObjects(deliver => deliver())],
  ['trunkline', trunkline],
  ['json-rpc-2.0', jsonRpc2],
  ['SDK 1.32 Protocol', sdk],
  ['vscode-jsonrpc', vscode],
]

const modes = [
  { name: 'sequential', inFlight: 1, target: 0.5 },
  { name: '64 in flight', inFlight: 64, target: 0.5 },
]

/** Measures calls between two peers in one process. */
export async function peer({ rounds, seconds = 0.15, only, alone, log }) {
  const reports = []
  for (const { name, inFlight, target } of modes.filter(mode => mode.name.includes(only))) {
    log(`peer: ${name}`)
    const contestants = field.map(([label, open]) => ({
      ...caller(label, open, inFlight),
      ...(isOurs(label) && { twin: () => elsewhere('../peer', label, inFlight) }),
    }))
    const results = await compare(contestants, { rounds, seconds, alone })
    const workload = { name, target, bytes: JSON.stringify(paramsOf(1)).length, results }
    reports.push({
      title: `calls in process, ${name}`,
      notes: [
        `Params of ${workload.bytes} bytes as an object, returned as the result. The floor looks up the method in a Map,`,
        'keeps a Map of pending calls, and passes objects in a microtask each way; it validates nothing.',
        'vscode-jsonrpc supports only byte streams, so it also writes and parses JSON.',
      ],
      workloads: [workload],
      text: list(workload),
    })
  }
  return reports
}

/** Makes the contestant of this package, for a process of its own. */
export function contestant(name, inFlight) {
  const [, open] = field.find(([label]) => label === name)
  return caller(name, open, inFlight)
}

const text =
  'What the caller sends comes back as it is, whatever it says; this is about as long as a short question. '

const paramsOf = i => ({ name: 'echo', arguments: { number: i, text } })

/**
 * A contestant that makes `count` calls, keeping `inFlight` of them in flight. `open` returns
 * `{ call(method, params), close() }`.
 */
export function caller(name, open, inFlight) {
  let end
  return {
    name,
    async open() {
      end = await open()
    },
    async check() {
      assert.deepEqual(await end.call('echo', paramsOf(7)), paramsOf(7))
    },
    async run(count) {
      const { call } = end
      let left = count
      let sum = 0
      const work = async () => {
        while (left > 0) {
          left -= 1
          const result = await call('echo', paramsOf(left))
          sum += result.arguments.number
        }
      }
      await Promise.all(Array.from({ length: Math.min(inFlight, count) }, work))
      assert.equal(sum, (count * (count - 1)) / 2)
    },
    close: () => end?.close(),
  }
}
