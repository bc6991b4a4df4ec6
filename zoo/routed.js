import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { folder } from './install.js'
import { eras, startRouter, toolsOf } from './router.js'

/** Runs all servers behind one router, and lists and calls each of them in both eras. */
export async function runRouted(file, servers) {
  const cache = join(folder, 'lists.json')
  rmSync(cache, { force: true })
  const router = await startRouter(file, cache)
  try {
    const names = {}
    const calls = {}
    for (const era of Object.keys(eras)) {
      await router.client(era, async client => {
        names[era] = (await toolsOf(client)).map(({ name }) => name)
        calls[era] = await callAll(client, servers)
      })
    }
    return { names, calls, status: await router.status() }
  } finally {
    await router.end()
  }
}

async function callAll(client, servers) {
  const answers = {}
  for (const { name, call = [] } of servers) {
    answers[name] = await callOne(client, name, call)
    if (/FAILED/.test(answers[name])) console.error(`${name}: ${answers[name]}`)
  }
  return answers
}

/** The outcome of one call: `result`, `tool error`, `error` by the server, or the failure of the router. */
async function callOne(client, name, [tool, args = {}]) {
  try {
    const result = await client.call(`${name}__${tool}`, args)
    return result.isError ? 'tool error' : 'result'
  } catch (error) {
    const isOwn = [-32000, -32008, -32009].includes(error.code) || error.kind === 'tool_not_found'
    return error.code === undefined || isOwn ? `FAILED: ${error.message}` : 'error'
  }
}
