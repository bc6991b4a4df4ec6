/*
 * node bench/profile.js FOLDER [N]: summarizes the CPU profiles in a folder. It prints the N functions
 * with the most self time, as a share of the time that was not idle.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder = '.', top = '25'] = process.argv.slice(2)
const names = readdirSync(folder).filter(name => name.endsWith('.cpuprofile'))
if (names.length === 0) throw new Error(`no .cpuprofile in ${folder}`)

for (const name of names) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
  const labels = new Map(nodes.map(({ id, callFrame }) => [id, label(callFrame)]))
  const own = new Map()
  samples.forEach((id, at) => {
    const key = labels.get(id)
    own.set(key, (own.get(key) ?? 0) + timeDeltas[at])
  })
  own.delete('(idle)')
  const busy = [...own.values()].reduce((sum, micros) => sum + micros, 0)
  console.log(`\n${name}: ${(busy / 1000).toFixed(0)} ms busy`)
  const ranked = [...own].toSorted(([, a], [, b]) => b - a).slice(0, Number(top))
  for (const [key, micros] of ranked) {
    console.log(`${((100 * micros) / busy).toFixed(1).padStart(6)} %  ${key}`)
  }
}

function label({ functionName, url, lineNumber }) {
  const where =
    url === '' ? '' : `  ${url.replace(/^file:\/\//, '').replace(`${process.cwd()}/`, '')}`
  return `${functionName || '(anonymous)'}${where}${where === '' ? '' : `:${lineNumber + 1}`}`
}
