import assert from 'node:assert/strict'
import { compare } from '../measure.js'
import { aim, list } from '../report.js'
import { elsewhere } from './elsewhere.js'
import { bare, sdk1, sdk2, trunkline } from './in-process.js'
import { answerTo, argumentsOf, badArguments } from './tool.js'
import { toolRequest } from './wire.js'

const field = new Map([
  ['bare objects + Zod', bare],
  ['trunkline', () => trunkline('stateless')],
  ['trunkline, session', () => trunkline('session')],
  ['trunkline, JSON Schema', () => trunkline('stateless', 'plain')],
  ['SDK 1.32', sdk1],
  ['SDK 2.4', () => sdk2('stateless')],
  ['SDK 2.4, session', () => sdk2('session')],
])

const modes = [
  { name: 'sequential', inFlight: 1 },
  { name: '64 in flight', inFlight: 64 },
]

/** Measures tool calls from a client to a server in the same process, both of the same package. */
export async function calls({ rounds, seconds = 0.15, only, alone, log }) {
  const reports = []
  const bytes = JSON.stringify(argumentsOf(500)).length
  for (const { name, inFlight } of modes) {
    const title = `MCP tool calls in process, ${name}`
    if (!title.includes(only)) continue
    log(title)
    const contestants = [...field.keys()].map(label => elsewhere('calls', label, inFlight))
    const results = await compare(contestants, { rounds, seconds, alone })
    const aims = [
      aim(results, { than: 'SDK 1.32', least: 10 }),
      aim(results, { than: 'SDK 2.4', least: 30 }),
      aim(results, { than: 'trunkline, session', least: 0.8, most: 1.25 }),
    ]
    const workload = { name, bytes, results, aims }
    reports.push({ title, notes: notesOf(bytes), workloads: [workload], text: list(workload) })
  }
  return reports
}

function notesOf(bytes) {
  return [
    `tools/call from client to server and back: arguments of ${bytes} bytes as an object, validated by the schema of the`,
    `tool, and a result of ${answerTo(argumentsOf(500)).length} characters. All use Zod, one of ours plain JSON Schema. Objects are passed by reference,`,
    `in one process per contestant, in the newest protocol version (as text: ${toolRequest('stateless', 500).length} bytes) or, for "session", in the one before`,
    `(${toolRequest('session', 500).length} bytes). SDK 1.32 supports only sessions. The floor only looks up the tool and validates the arguments.`,
  ]
}

/** A contestant that makes `count` tool calls, keeping `inFlight` of them in flight. */
export function contestant(name, inFlight) {
  let end
  let inputs = []
  return {
    name,
    async open() {
      end = await field.get(name)()
    },
    async check() {
      const { call, textOf } = end
      assert.equal(textOf(await call(argumentsOf(7))), answerTo(argumentsOf(7)))
      await assert.rejects(async () => isFine(await call(badArguments), textOf))
    },
    prepare() {
      inputs = Array.from({ length: 1024 }, (_, i) => argumentsOf(i))
    },
    async run(count) {
      const { call, textOf } = end
      let left = count
      let length = 0
      const work = async () => {
        while (left > 0) {
          left -= 1
          const result = await call(inputs[left & 1023])
          length += textOf(result).length
        }
      }
      await Promise.all(Array.from({ length: Math.min(inFlight, count) }, work))
      assert.ok(length >= count * 20, 'some answers are missing')
    },
    close: () => end?.close(),
  }
}

/** Throws if a result reports a failure, as some packages do for invalid arguments. */
function isFine(result, textOf) {
  if (result.isError) throw new Error('refused')
  return textOf(result)
}
