// Bundles the sources into a few files, one for each subpath and one for each part that is loaded on
// demand, because a program that loads two hundred small files starts slowly.
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
  // Separate entry points, so that a program that uses only JSON-RPC loads nothing else. No more, because each
  // file of a server must be found, read and compiled before its first response.
  codeSplitting: {
    groups: [
      // Without the file that loads the package `yaml` and those that need Node.js, which few programs use.
      { name: 'jsonrpc', test: /[\\/]src[\\/](?:jsonrpc|util)[\\/](?!yaml\.ts|files[\\/])/ },
      { name: 'mcp', test: /[\\/]src[\\/]mcp[\\/]/ },
      { name: 'server', test: /[\\/]src[\\/]server[\\/]/ },
      { name: 'root', test: /[\\/]src[\\/][\w-]+\.ts$/ },
    ],
  },
})
await bundle.close()
