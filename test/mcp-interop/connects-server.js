/*
 * A small server. Started alone it serves on its stdio; with an IPC channel to its parent it serves on
 * the addresses in its arguments, sends these to the parent, and then reports for each message what is
 * still open in this process.
 */
import { listen, Server, serve } from '../../dist/index.js'

const server = new Server({ name: 'connects', version: '1.0.0' })
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
server.tool('echo', { input: text }, ({ text: words }) => words)
server.tool('wait', {}, (_input, ctx) => {
  ctx.progress(1)
  return new Promise((_resolve, reject) => {
    ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
  })
})

if (process.send === undefined) {
  await serve(server)
} else {
  const listeners = []
  for (const address of process.argv.slice(2)) listeners.push(await listen(server, address))
  process.on('message', () => process.send(process.getActiveResourcesInfo()))
  // Nothing else ends this process: it exits only when nothing is left to do.
  process.on('disconnect', () => {
    for (const listener of listeners) void listener.close()
  })
  process.send(listeners.map(({ address }) => address))
}
