// The anchors that GitHub makes of headings. The site makes the same ones, so that a link with an anchor
// works in both places.

/** The anchor of a heading, given its text without markup: `What's new?` becomes `whats-new`. */
export function slug(text) {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** The anchors of a Markdown page, in order. A repeated heading gets a number: `limits`, `limits-1`. */
export function anchors(page) {
  const seen = new Map()
  return headings(page).map(heading => {
    const plain = slug(withoutMarkup(heading))
    const count = seen.get(plain) ?? 0
    seen.set(plain, count + 1)
    return count === 0 ? plain : `${plain}-${count}`
  })
}

/** The headings of a page, without those lines of code blocks that look like one. */
function headings(page) {
  const found = []
  let fence
  for (const line of page.split('\n')) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence)) fence = undefined
    else continue
    const heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(line)?.[1]
    if (mark === undefined && heading !== undefined) found.push(heading)
  }
  return found
}

function withoutMarkup(heading) {
  return heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '')
}
