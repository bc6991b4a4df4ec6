// The sidebar of the site, read from the index pages, so that there is one list to maintain.

/** A link in a row of a table or in an item of a list. */
const row = /^(?:\||[-*]|\d+\.)\s*\[([^\]]+)\]\(([^):\s]+\.md)\)/

/**
 * The links of an index page to other pages of its folder, as groups: one for each heading of the second
 * level, and one without a name for what stands before the first.
 */
export function groupsOf(index) {
  const groups = [{ text: undefined, pages: [] }]
  for (const line of index.split('\n')) {
    const heading = /^##\s+(.+)$/.exec(line)?.[1]
    if (heading !== undefined) groups.push({ text: heading, pages: [] })
    const [, text, path] = row.exec(line) ?? []
    if (path !== undefined && !path.startsWith('..')) groups.at(-1).pages.push({ text, path })
  }
  return groups.filter(group => group.pages.length > 0)
}

/** The sidebar in the form of VitePress. `read` gives the text of a page below docs. */
export function sidebar(read) {
  const groups = groupsOf(read('README.md')).map(({ text = 'Documentation', pages }) => ({
    text,
    items: pages.map(page => itemOf(page, read)),
  }))
  return [{ text: 'Overview', link: '/' }, ...groups]
}

function itemOf({ text, path }, read) {
  const item = { text, link: linkOf(path) }
  if (!path.endsWith('/README.md')) return item
  const folder = path.slice(0, -'README.md'.length)
  const pages = groupsOf(read(path)).flatMap(group => group.pages)
  if (pages.length === 0) return item
  const items = pages.map(page => ({ text: page.text, link: linkOf(folder + page.path) }))
  return { ...item, collapsed: true, items }
}

/** The address on the site of a page below docs: `a.md` is `/a`, `b/README.md` is `/b/`. */
export function linkOf(path) {
  return `/${path}`.replace(/\.md$/, '').replace(/(?<=\/)README$/, '')
}
