import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * A contestant that runs in a separate process, where `worker.js` creates it by suite and name. All of
 * them use Zod, and a package with many kinds of schemas would slow it down for the others.
 */
export function elsewhere(suite, name, inFlight) {
  return { ...worker(suite, name, inFlight), twin: () => worker(suite, name, inFlight) }
}

function worker(suite, name, inFlight) {
  let child
  const ask = async (step, count) => {
    child.send({ step, count })
    const [reply] = await once(child, 'message')
    if (reply.failed !== undefined) throw new Error(reply.failed)
    return reply
  }
  return {
    name,
    async open() {
      const profile = process.env.BENCH_PROFILE
      const execArgv = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
      const file = fileURLToPath(new URL('worker.js', import.meta.url))
      child = fork(file, [suite, name, String(inFlight)], { execArgv })
      await ask('open')
    },
    check: () => ask('check'),
    run: async count => (await ask('run', count)).seconds,
    cpu: async () => (await ask('cpu')).micros,
    async close() {
      if (child === undefined || child.exitCode !== null) return
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}
