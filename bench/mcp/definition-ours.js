import { ours } from '../ours.js'
import { answerTo, description, info, name, ownMicros, plainInput, zodInput } from './tool.js'

export async function trunklineServer(schema) {
  const { Server } = await ours('index')
  const server = new Server(info)
  const input = schema === 'plain' ? plainInput : zodInput
  server.tool(name, { description, input }, answerTo)
  server.tool('usage', {}, () => String(ownMicros()))
  return server
}
