// Joins the sources into few files, one for each subpath and one for each part that is loaded on
// demand: a program that has to find and read two hundred small files is slow to start.
//
//   node scripts/bundle.js FOLDER

import { readFileSync } from 'node:fs'
import { rolldown } from 'rolldown'
import { root } from './steps.js'

const { exports, bin, dependencies, peerDependencies } = JSON.parse(
  readFileSync(`${root}package.json`, 'utf8'),
)
const files = [...Object.values(exports).map(entry => entry.default), ...Object.values(bin)]
const entries = files
  .filter(file => file !== undefined)
  .map(file => file.replace(/^(?:\.\/)?dist\//, '').replace(/\.js$/, ''))

const packages = Object.keys({ ...dependencies, ...peerDependencies })
const bundle = await rolldown({
  input: Object.fromEntries(entries.map(name => [name, `${root}src/${name}.ts`])),
  platform: 'node',
  external: [/^node:/, ...packages, ...packages.map(name => new RegExp(`^${name}/`))],
  treeshake: { moduleSideEffects: false },
})

await bundle.write({
  dir: process.argv[2],
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'parts/[name].js',
  // By themselves, so that who wants JSON-RPC alone loads nothing else; and as few as that, because each
  // file that a server is made of has to be found, read and compiled before its first answer.
  codeSplitting: {
    groups: [
      { name: 'jsonrpc', test: /[\\/]src[\\/](?:jsonrpc|util)[\\/]/ },
      { name: 'mcp', test: /[\\/]src[\\/]mcp[\\/]/ },
      { name: 'server', test: /[\\/]src[\\/]server[\\/]/ },
      { name: 'root', test: /[\\/]src[\\/][\w-]+\.ts$/ },
    ],
  },
})
await bundle.close()
