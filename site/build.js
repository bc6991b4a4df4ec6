// Builds the site into site/dist: the pages of docs/ by VitePress, and below api/ the reference by
// TypeDoc, out of the comments in src. Run it by `npm run docs` in the root, which installs what it needs.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application } from 'typedoc'
import { build } from 'vitepress'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'site', 'dist')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

// VitePress empties the folder, so it goes first. A dead link makes it throw.
const arePagesComplete = await buildPages()
process.exitCode = (await buildReference()) && arePagesComplete ? 0 : 1

/** Builds the pages. Resolves to false if one could not be rendered, which VitePress only prints. */
async function buildPages() {
  const print = console.error
  let isComplete = true
  console.error = (...args) => {
    isComplete = false
    print(...args)
  }
  try {
    await build(join(root, 'site'))
  } finally {
    console.error = print
  }
  return isComplete
}

/** The reference, with one module for each subpath of package.json. Resolves to whether it is complete. */
async function buildReference() {
  const modules = subpaths()
  const app = await Application.bootstrap({
    name: 'Trunkline API',
    entryPoints: modules.map(({ source }) => source),
    tsconfig: join(root, 'site', 'tsconfig.json'),
    basePath: root,
    readme: 'none',
    out: join(dist, 'api'),
    includeVersion: true,
    excludeInternal: true,
    excludePrivate: true,
    disableGit: true,
    gitRevision: 'main',
    // The path is relative to the folder that all entry points share.
    sourceLinkTemplate: `${manifest.homepage.replace(/#.*$/, '')}/blob/main/src/{path}#L{line}`,
    navigationLinks: { Guide: process.env.DOCS_BASE ?? '/' },
    // Types that the subpaths do not export may stand in signatures: test/surface.txt decides what is
    // public. A broken {@link} is a mistake of ours.
    validation: {
      notExported: false,
      invalidLink: true,
      notDocumented: false,
      rewrittenLink: true,
    },
    treatValidationWarningsAsErrors: true,
  })
  const project = await app.convert()
  if (project === undefined) return false
  for (const child of project.children ?? []) {
    const file = child.sources?.[0]?.fullFileName
    child.name = modules.find(({ source }) => source === file)?.specifier ?? child.name
  }
  app.validate(project)
  await app.generateOutputs(project)
  return !app.logger.hasErrors()
}

/** What a user imports, and the source file that exports it. The package itself comes first. */
function subpaths() {
  return Object.entries(manifest.exports)
    .filter(([, entry]) => typeof entry === 'object')
    .map(([subpath, entry]) => ({
      specifier: manifest.name + subpath.slice(1),
      source: join(root, entry.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts')),
    }))
}
