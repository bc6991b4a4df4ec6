// Bundles the page of the console into a folder: one script, with parts that are loaded on demand, one style sheet
// and the HTML, all but the HTML named by a digest of their contents.
//
//   node scripts/build-console.js FOLDER [--watch] [--sizes]

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { root } from './steps.js'

/** The packages of the page, whose licences are shipped with it. */
const packages = ['preact', '@preact/signals', '@preact/signals-core', 'uplot']
const source = join(root, 'console')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { watch: { type: 'boolean' }, sizes: { type: 'boolean' } },
})
const [folder] = positionals
if (folder === undefined) throw new TypeError('usage: node scripts/build-console.js FOLDER')
await buildPage(folder)
if (values.watch) {
  let timer
  watch(source, { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(() => void buildPage(folder).catch(error => console.error(error)), 50)
  })
}

async function buildPage(target) {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const bundle = await rolldown({
    input: { main: join(source, 'main.tsx') },
    platform: 'browser',
    tsconfig: join(source, 'tsconfig.json'),
    transform: { target: 'es2022' },
  })
  const { output } = await bundle.write({
    dir: target,
    format: 'esm',
    minify: true,
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
  })
  await bundle.close()
  const [script] = output.filter(each => each.isEntry)
  const styles = readdirSync(join(source, 'style')).filter(name => name.endsWith('.css'))
  const uplot = readFileSync(join(root, 'node_modules/uplot/dist/uPlot.min.css'), 'utf8')
  const css = [
    uplot,
    ...styles.sort().map(name => smaller(readFileSync(join(source, 'style', name), 'utf8'))),
  ].join('\n')
  const style = `style-${createHash('sha256').update(css).digest('hex').slice(0, 8)}.css`
  writeFileSync(join(target, style), css)
  const html = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('SCRIPT', `assets/${script.fileName}`)
    .replace('STYLE', `assets/${style}`)
  writeFileSync(join(target, 'index.html'), html)
  writeFileSync(join(target, 'LICENSES.txt'), packages.map(licence).join('\n'))
  if (values.sizes) printSizes(target)
}

/** Removes comments and indentation. */
function smaller(css) {
  return css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s*\n\s*/g, '\n')
    .trim()
}

function licence(name) {
  const home = join(root, 'node_modules', name)
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  return `${name} ${version}\n\n${readFileSync(join(home, 'LICENSE'), 'utf8')}\n`
}

function printSizes(target) {
  let total = 0
  for (const name of readdirSync(target).filter(each => !each.endsWith('.txt'))) {
    const size = gzipSync(readFileSync(join(target, name)), { level: 9 }).length
    total += size
    console.log(`${(size / 1024).toFixed(1).padStart(7)} KB gz  ${name}`)
  }
  console.log(`${(total / 1024).toFixed(1).padStart(7)} KB gz  all`)
}
