// Starts NATS with JetStream for tests and benchmarks, on the loopback interface, with its data in a temporary folder.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engineServer, startProgram } from './engine-server.js'
import { engineProgram } from './engines.js'

/** The program of NATS; undefined if it is not installed. */
export const natsProgram = engineProgram('nats')

/** Starts NATS: see nats-server.d.ts. */
export async function natsServer(settings = '') {
  if (natsProgram === undefined) throw new Error('nats-server is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-nats-'))
  const data = join(folder, 'data')
  const file = join(folder, 'nats.conf')
  const streams = `jetstream { store_dir: ${JSON.stringify(data)} }`
  writeFileSync(file, `${/^jetstream/m.test(settings) ? '' : streams}\n${settings}\n`)
  return engineServer({
    folder,
    data,
    start: port => {
      const args = ['--config', file, '--addr', '127.0.0.1', '--port', `${port}`]
      return startProgram(natsProgram, args, 'Server is ready')
    },
  })
}
