import { limits } from '../../../util/limits/limits.ts'
import { Warning } from '../../../util/warning.ts'
import type { RunCommand } from '../../remote/connection.ts'
import { headerBytes, openStream, type StreamConfig } from './jetstream.ts'
import type { RawNats } from './raw-connection.ts'
import type { NatsSubjects } from './subjects.ts'

/**
 * Returns a function that opens the streams of a cluster, and creates those that are missing. It throws a TypeError if
 * the engine cannot be used, and warns of settings the first time.
 */
export function streamChecks(
  { documents, logs }: NatsSubjects,
  onWarning: ((warning: Warning) => void) | undefined,
): (run: RunCommand<RawNats>) => Promise<void> {
  let isChecked = false
  return async run => {
    const { hasJetStream, maxPayload } = await run(async raw => raw)
    if (!hasJetStream) {
      throw new TypeError('the engine keeps no streams: start nats-server with --jetstream')
    }
    const configs = await Promise.all([
      run(raw => openStream(raw, documents, 1)),
      run(raw => openStream(raw, logs, -1)),
    ])
    const streams = [documents.name, logs.name]
    for (const [at, { num_replicas: replicas = 1 }] of configs.entries()) {
      if (replicas === 1) continue
      // A leader checks the number of the last message against what it has stored, not against what is on its way to
      // the other copies. So of two writes at the same time both may succeed.
      throw new TypeError(
        `the stream "${streams[at]}" has ${replicas} replicas, and NATS cannot fence writes to replicated streams: use 1 replica`,
      )
    }
    if (isChecked) return
    isChecked = true
    const warnings = configs.flatMap((config, at) => streamWarnings(streams[at] ?? '', config))
    for (const text of [...payloadWarnings(maxPayload), ...warnings]) onWarning?.(new Warning(text))
  }
}

function payloadWarnings(maxPayload: number): string[] {
  if (maxPayload >= limits.clusterValueBytes.default + headerBytes) return []
  return [
    `the engine accepts messages of ${maxPayload} bytes only; set "max_payload: 9MB" for larger values`,
  ]
}

function streamWarnings(name: string, config: StreamConfig): string[] {
  const warnings: string[] = []
  if (config.storage === 'memory') {
    warnings.push(`the stream "${name}" is lost when the engine restarts; use file storage`)
  }
  if (config.discard !== 'new' || (config.max_age ?? 0) > 0) {
    warnings.push(
      `the stream "${name}" deletes data by itself; set "discard: new" and no maximum age`,
    )
  }
  return warnings
}
