// How VitePress makes the site of docs/*.md. Run it by `npm run docs` in the root.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { siteLinks } from '../links.js'
import { sidebar } from '../sidebar.js'
import { slug } from '../slug.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { homepage, description, version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
const repository = homepage.replace(/#.*$/, '')

/** Where the site will be served: `/`, unless DOCS_BASE says otherwise, for example `/trunkline/`. */
const base = process.env.DOCS_BASE ?? '/'

export default defineConfig({
  title: 'Trunkline',
  description,
  base,
  lang: 'en',
  srcDir: '../docs',
  outDir: './dist',
  cacheDir: './.cache/vitepress',
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  ignoreDeadLinks: false,
  lastUpdated: false,
  vite: { publicDir: false, plugins: [findVue()] },
  markdown: {
    anchor: { slugify: slug },
    config: md => {
      siteLinks(md, repository)
      literalCode(md)
    },
  },
  themeConfig: {
    sidebar: sidebar(path => readFileSync(join(root, 'docs', path), 'utf8')),
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [
      { text: 'Guide', link: '/' },
      // A page of TypeDoc, which the router of VitePress must leave alone.
      { text: 'API', link: '/api/index.html', target: '_self' },
      { text: `v${version}`, link: `${repository}/blob/main/CHANGELOG.md` },
      { text: 'GitHub', link: repository },
    ],
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page on GitHub' },
  },
})

/** Keeps Vue from evaluating `{{ … }}` in code. */
function literalCode(md) {
  const render = md.renderer.rules.code_inline
  md.renderer.rules.code_inline = (tokens, index, ...rest) => {
    tokens[index].attrSet('v-pre', '')
    return render(tokens, index, ...rest)
  }
}

/**
 * The pages lie outside this folder, so Vue, which they are compiled against, does not lie above them.
 * The program that renders them does lie here and finds it.
 */
function findVue() {
  return {
    name: 'find-vue',
    enforce: 'pre',
    resolveId: (id, _importer, { ssr }) =>
      ssr && /^vue(?:\/|$)/.test(id) ? { id, external: true } : undefined,
  }
}
