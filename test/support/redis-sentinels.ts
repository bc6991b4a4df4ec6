import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killProcess } from '../../scripts/engine-server.js'
import { freePort } from '../../scripts/free-port.js'
import { startRedis } from '../../scripts/redis-server.js'

/** Sentinels that watch one primary. */
export interface RedisSentinels {
  readonly ports: readonly number[]
  /** The address of a backplane that asks them. */
  readonly url: string
  close(): Promise<void>
}

/** Starts sentinels for the primary at a port, which they know as `main`. Two must agree that it is down. */
export async function redisSentinels(primary: number, count = 3): Promise<RedisSentinels> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-sentinels-'))
  const sentinels = await Promise.all(Array.from({ length: count }, () => start(folder, primary)))
  const ports = sentinels.map(({ port }) => port)
  return {
    ports,
    url: `redis-sentinel://${ports.map(port => `127.0.0.1:${port}`).join(',')}/main`,
    close: async () => {
      await Promise.all(sentinels.map(({ child }) => killProcess(child)))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function start(folder: string, primary: number) {
  for (;;) {
    const port = await freePort()
    const file = join(folder, `${port}.conf`)
    const settings = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor main 127.0.0.1 ${primary} 2`,
      'sentinel down-after-milliseconds main 1000',
      'sentinel failover-timeout main 5000',
    ]
    writeFileSync(file, settings.join('\n'))
    const child = await startRedis([file, '--sentinel'], 'Sentinel ID is')
    if (child !== undefined) return { child, port }
  }
}
