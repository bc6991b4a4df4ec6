// Bundles the declarations of the compiler into one file for each subpath, and one for each folder of src
// that they share, because a compiler or an editor that reads hundreds of small files starts slowly.
//
//   node scripts/bundle-types.js DECLARATIONS FOLDER

import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'
import { root } from './steps.js'

const [, , declarations, folder] = process.argv
const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
const entries = Object.values(exports)
  .flatMap(({ types }) => types ?? [])
  .map(file => file.replace('./dist/', '').replace(/\.d\.ts$/, ''))

const bundle = await rollup({
  input: Object.fromEntries(entries.map(name => [name, join(declarations, `${name}.d.ts`)])),
  plugins: [dts(), { name: 'type-exports', renderChunk: markTypes }],
  external: [/^[^./]/],
  onwarn: ({ message }) => {
    throw new Error(message)
  },
})

await bundle.write({
  dir: folder,
  entryFileNames: '[name].d.ts',
  chunkFileNames: 'parts/[name].d.ts',
  // Types keep their names in every file, for editors that show where a type is declared.
  minifyInternalExports: false,
  hoistTransitiveImports: false,
  manualChunks: id => {
    const path = relative(declarations, id).split(sep)
    const isEntry = entries.includes(path.join('/').replace(/\.d\.ts$/, ''))
    return isEntry ? undefined : path.length === 1 ? 'root' : path[0]
  },
})
await bundle.close()

/**
 * Marks the types that a subpath exports as types, which the bundler forgets: a class that is exported only
 * as a type does not exist at run time, so a program must not be able to construct it.
 */
function markTypes(code, { isEntry, facadeModuleId }) {
  if (!isEntry) return null
  const values = new Set(valuesOf(readFileSync(facadeModuleId, 'utf8')))
  return code.replace(/^export \{([^}]*)\}/gm, (_, list) => {
    const names = list.split(',').map(name => name.trim())
    return `export { ${names.map(name => (values.has(name) ? name : `type ${name}`)).join(', ')} }`
  })
}

/** Returns the names that a list of exports exports at run time. */
function valuesOf(text) {
  const lists = [...text.matchAll(/^export \{([^}]*)\}/gm)].map(([, list]) => list)
  return lists.flatMap(list => list.split(',').map(name => name.trim()))
}
