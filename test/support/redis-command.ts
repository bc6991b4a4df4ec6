import { createClient } from '@redis/client'

/** It never connects. Its duplicates share one class, which takes long to define. */
const template = createClient({ RESP: 2 })

/** Runs a command of Redis on a connection of its own. */
export async function redisCommand(port: number, ...args: readonly string[]): Promise<unknown> {
  const client = template.duplicate({ url: `redis://127.0.0.1:${port}` })
  await client.connect()
  try {
    return await client.sendCommand(args)
  } finally {
    client.destroy()
  }
}
