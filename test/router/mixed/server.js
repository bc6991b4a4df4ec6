/*
 * node server.js: a server of ours with everything that the mixed load uses: progress, cancellation,
 * elicitation, tasks, errors, resources and subscriptions.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Server, serve } from '../../../dist/index.js'

const server = new Server({ name: 'own', version: '1' }, { tasks: { pollMs: 20 } })
const word = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] }
const nothing = { type: 'object', properties: {} }

server.tool('echo', { input: word }, ({ word: said }) => said)
server.tool('steps', { input: word }, async ({ word: said }, ctx) => {
  for (let step = 1; step <= 3; step++) {
    ctx.progress(step, 3)
    await sleep(20, undefined, { signal: ctx.signal })
  }
  return said
})
server.tool('wait', { input: nothing }, (_, ctx) => {
  ctx.progress(0)
  return sleep(600_000, 'waited', { signal: ctx.signal })
})
server.tool('ask', { input: nothing }, async (_, ctx) => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const { city } = await ctx.elicit({ message: 'Where?', schema })
  return `in ${city}`
})
server.tool('job', { input: word, task: 'optional' }, async ({ word: said }, ctx) => {
  await sleep(5, undefined, { signal: ctx.signal })
  return said
})
server.tool('fail', { input: nothing }, () => {
  throw new Error('failed on purpose')
})
server.tool('touch', { input: nothing }, () => {
  server.updated('own://note')
  return 'touched'
})
server.resource('note', 'own://note', { mimeType: 'text/plain' }, () => 'a note')

await serve(server)
