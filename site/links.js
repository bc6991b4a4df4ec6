// Links of the pages that lead out of docs, such as `../examples/http.js`, work on GitHub as they are.
// The site has no such files: there they become addresses of the repository.

import { posix } from 'node:path'

const own = /^(?:[a-z][a-z0-9+.-]*:|\/|#)/i

/**
 * What a link on a page below docs becomes on the site.
 *
 * @param href the link as it is written
 * @param page the page it is on, below docs, with forward slashes
 * @param repository the address of the repository
 */
export function siteLink(href, page, repository) {
  if (own.test(href)) return href
  const [path, anchor] = href.split(/(?=#)/)
  const target = posix.join('docs', posix.dirname(page), path)
  if (!target.startsWith('docs/')) return `${repository}/blob/main/${target}${anchor ?? ''}`
  // The index page of a folder is `index` on the site and `README` on GitHub.
  return path.replace(/(?<=^|\/)README\.md$/, 'index.md') + (anchor ?? '')
}

/** A plugin of markdown-it that does this to every link of a page. */
export function siteLinks(md, repository) {
  md.core.ruler.push('site-links', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== 'link_open') continue
      token.attrSet('href', siteLink(token.attrGet('href'), env.relativePath, repository))
    }
  })
}
