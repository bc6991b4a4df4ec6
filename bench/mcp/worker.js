/* node worker.js SUITE NAME IN-FLIGHT: one contestant, driven by the messages of `elsewhere.js`. */
import { collect, now } from '../measure.js'

const [suite, name, inFlight] = process.argv.slice(2)
const { contestant } = await import(`./${suite}.js`)
const warmUpMicros = 1_000_000
const own = contestant(name, Number(inFlight))

const steps = {
  open: () => own.open?.(),
  async check() {
    await own.check()
    // Warm up until the compiler has settled, measured in CPU time, which a busy machine delays.
    const { user } = process.cpuUsage()
    own.prepare?.()
    while (process.cpuUsage().user - user < warmUpMicros) await own.run(256)
  },
  async run(count) {
    own.prepare?.()
    // Garbage of earlier rounds must not be collected in this one.
    collect({ type: 'minor' })
    const start = now()
    await own.run(count)
    return { seconds: now() - start }
  },
  cpu() {
    const { user, system } = process.cpuUsage()
    return { micros: user + system }
  },
}

process.on('message', async ({ step, count }) => {
  try {
    process.send({ ...(await steps[step](count)) })
  } catch (error) {
    process.send({ failed: error.message })
  }
})
// A clean exit lets a profiler write its file.
process.on('disconnect', () => process.exit(0))
