import { createClient } from '@redis/client'

/** Runs a command of Redis on a connection of its own. */
export async function redisCommand(port: number, ...args: readonly string[]): Promise<unknown> {
  const client = createClient({ url: `redis://127.0.0.1:${port}`, RESP: 2 })
  await client.connect()
  try {
    return await client.sendCommand(args)
  } finally {
    client.destroy()
  }
}
