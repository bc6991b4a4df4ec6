import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../sources.ts'
import { documentedTable } from '../tables.ts'
import { type ApiLayer, bytesOf, portedServers } from './api-layers.ts'
import { bytesOfTask, everydayTasks, fewestOf, otherLibraries } from './everyday.ts'
import { knownDifferences } from './known.ts'

const page = 'docs/comparison.md'
const original = (layer: ApiLayer) => bytesOf('third-party/node_modules', layer)
const port = (layer: ApiLayer) => bytesOf('examples/ports', layer)

test.each(portedServers)('the port of $package needs at most half of the code', server => {
  expect(port(server.port).code / original(server.original).code).toBeLessThanOrEqual(0.5)
})

test('the page shows the bytes of the ports', () => {
  const head = ['server', 'tools', 'original', 'Trunkline', 'ratio', 'with texts']
  const rows = portedServers.map(server => {
    const [theirs, ours] = [original(server.original), port(server.port)]
    const ratio = `${Math.round((ours.code / theirs.code) * 100)} %`
    const withTexts = `${ours.all} of ${theirs.all}: ${Math.round((ours.all / theirs.all) * 100)} %`
    const name = `[${server.package}](../examples/ports/${server.port.files[0]})`
    return [name, `${server.tools}`, `${theirs.code}`, `${ours.code}`, ratio, withTexts]
  })
  const expected = [head, ...rows]
  expect(documentedTable(page, 'ports', expected)).toEqual(expected)
})

test('the page shows every difference on the wire', () => {
  const head = ['what', 'original', 'Trunkline', 'reason', 'servers']
  const rows = knownDifferences.map(({ what, original, port, because, places }) => {
    const servers = new Set(Object.keys(places).map(pair => pair.split(',')[0] ?? ''))
    return [what, original, port, because, [...servers].join(', ')]
  })
  const expected = [head, ...rows]
  expect(documentedTable(page, 'differences', expected)).toEqual(expected)
})

describe('everyday tasks', () => {
  test.each(everydayTasks)('$example is the smallest, or within a tenth of it', task => {
    expect(bytesOfTask(task)).toBeLessThanOrEqual(
      (fewestOf(task) ?? Number.POSITIVE_INFINITY) * 1.1,
    )
  })

  test('each is an example', () => {
    const files = readdirSync(join(root, 'examples/everyday'))
    const named = everydayTasks.map(({ example }) => `${example}.js`)
    expect(named.sort()).toEqual(files.sort())
  })

  test('the page shows their bytes', () => {
    const rows = everydayTasks.map(task => {
      const link = `[${task.task}](../examples/everyday/${task.example}.js)`
      return [link, `${bytesOfTask(task)}`, ...task.others.map(String)]
    })
    const expected = [['task', 'Trunkline', ...otherLibraries], ...rows]
    expect(documentedTable(page, 'everyday', expected)).toEqual(expected)
  })
})
