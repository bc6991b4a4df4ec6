// Starts Redis for tests and benchmarks, on the loopback interface, with its data in a temporary folder.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engineServer, startProgram } from './engine-server.js'
import { engineProgram } from './engines.js'

/** The program of Redis; undefined if it is not installed. */
export const redisProgram = engineProgram('redis')

/** Starts Redis: see redis-server.d.ts. */
export async function redisServer(settings = []) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-redis-'))
  const isCluster = settings.includes('--cluster-enabled')
  const debug = ['--appendonly', 'yes', '--enable-debug-command', 'local']
  return engineServer({
    folder,
    data: join(folder, 'appendonlydir'),
    portCount: isCluster ? 2 : 1,
    start: (port, busPort) => {
      const fixed = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', folder, '--save', '']
      const bus = isCluster ? ['--cluster-port', `${busPort}`] : []
      return startRedis([...fixed, ...bus, ...debug, ...settings])
    },
  })
}

/** Starts the program with its arguments: see redis-server.d.ts. */
export async function startRedis(args, ready = 'Ready to accept connections') {
  if (redisProgram === undefined) throw new Error('redis-server is not installed')
  return startProgram(redisProgram, args, ready)
}
