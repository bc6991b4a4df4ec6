import { connect } from '@nats-io/transport-node'

/** Sends a request to the API of JetStream on a connection of its own, and returns the reply. */
export async function natsRequest(
  port: number,
  request: string,
  body: unknown = {},
): Promise<Record<string, unknown>> {
  const client = await connect({ servers: `127.0.0.1:${port}` })
  try {
    const options = { timeout: 60_000 }
    const reply = await client.request(`$JS.API.${request}`, JSON.stringify(body), options)
    return reply.json()
  } finally {
    await client.close()
  }
}

/** Deletes all streams of an engine, and with them everything that it has stored. */
export async function deleteStreams(port: number): Promise<void> {
  const { streams } = await natsRequest(port, 'STREAM.NAMES')
  for (const name of streams as string[]) await natsRequest(port, `STREAM.DELETE.${name}`)
}
