// Joins the sources into few files, one for each subpath and one for each part that is loaded on
// demand: a program that has to find and read two hundred small files is slow to start.
//
//   node scripts/bundle.js FOLDER

import { readFileSync } from 'node:fs'
import { rolldown } from 'rolldown'
import { root } from './steps.js'

const { exports, dependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
const entries = Object.values(exports)
  .filter(entry => entry.default !== undefined)
  .map(entry => entry.default.replace('./dist/', '').replace(/\.js$/, ''))

const bundle = await rolldown({
  input: Object.fromEntries(entries.map(name => [name, `${root}src/${name}.ts`])),
  platform: 'node',
  external: [
    /^node:/,
    ...Object.keys(dependencies),
    ...Object.keys(dependencies).map(name => new RegExp(`^${name}/`)),
  ],
  treeshake: { moduleSideEffects: false },
})

await bundle.write({
  dir: process.argv[2],
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'parts/[name].js',
  // By itself, so that who wants JSON-RPC alone loads nothing else.
  codeSplitting: { groups: [{ name: 'jsonrpc', test: /[\\/]src[\\/](?:jsonrpc|util)[\\/]/ }] },
})
await bundle.close()
