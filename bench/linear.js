import assert from 'node:assert/strict'
import { ReadBuffer } from '@modelcontextprotocol/sdk/shared/stdio.js'
import { compare } from './measure.js'
import { longTexts } from './messages.js'
import { inside, ours } from './ours.js'
import { bytes, table } from './report.js'

const { decode } = await ours('jsonrpc/index')
const { lines } = await inside('wire/lines')

const MiB = 2 ** 20
const sizes = [1, 2, 4, 8].map(count => count * MiB)
const maxBytes = 64 * MiB
const chunkBytes = 16 * 1024

/**
 * Measures framing and decoding of one long line in chunks of 16 KiB, as a pipe delivers it. A reader
 * that concatenates on each chunk takes four times as long for a line twice the size.
 */
export async function linearity({ rounds, alone, log }) {
  const workloads = []
  for (const size of sizes) {
    log(`long line: ${bytes(size)}`)
    const wire = longTexts(1, size)
    const line = Buffer.from(`${JSON.stringify(wire)}\n`)
    const chunks = []
    for (let at = 0; at < line.length; at += chunkBytes)
      chunks.push(line.subarray(at, at + chunkBytes))
    const field = [
      ['one Buffer.concat + JSON.parse', joinedOnce],
      ['trunkline', ownReader],
      ['SDK 1.32 ReadBuffer', sdkReader],
    ]
    const results = await compare(
      field.map(([name, read]) => ({
        name,
        check: () => assert.equal(read(chunks).result.content.length, wire.result.content.length),
        run(count) {
          for (let i = 0; i < count; i++) kept[0] = read(chunks)
        },
      })),
      { rounds: Math.min(rounds, 9), seconds: 0.05, alone },
    )
    workloads.push({ name: bytes(size), bytes: line.length, results })
  }
  const names = workloads[0].results.map(({ name }) => name)
  const rows = workloads.map(workload => [
    workload.name,
    ...workload.results.map(result => milliseconds(result, workload.bytes)),
  ])
  return {
    title: 'decode, one long line in chunks of 16 KiB',
    notes: ['ms per line (ms per MiB); linear means that the second figure is constant'],
    workloads,
    text: table(['line', ...names], rows),
  }
}

// Stored where the compiler cannot prove that it is unused.
const kept = [undefined]

function milliseconds({ failed, perSecond }, size) {
  if (failed !== undefined) return `failed: ${failed}`
  const ms = 1000 / perSecond.median
  return `${ms.toFixed(2)} (${((ms * MiB) / size).toFixed(2)})`
}

function joinedOnce(chunks) {
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

function ownReader(chunks) {
  let decoded
  const reader = lines.reader(
    {
      frame(frame, start, end) {
        decoded = decode(frame.subarray(start, end), { maxBytes })
      },
      oversize() {},
      broken() {},
    },
    maxBytes,
  )
  for (const chunk of chunks) reader.push(chunk)
  return decoded
}

function sdkReader(chunks) {
  const reader = new ReadBuffer()
  let message = null
  for (const chunk of chunks) {
    reader.append(chunk)
    message = reader.readMessage()
  }
  return message
}
