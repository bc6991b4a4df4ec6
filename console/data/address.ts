import { computed, signal } from '@preact/signals'

/** What the part of the address behind `#` says: a path and a query. */
export interface Address {
  readonly page: string
  /** The rest of the path, decoded: the name of a server or tool. */
  readonly item: string | undefined
  readonly query: URLSearchParams
}

/** Reads the part of an address behind `#`. */
export function readAddress(hash: string): Address {
  const text = hash.replace(/^#\/?/, '')
  const cut = text.indexOf('?')
  const path = cut === -1 ? text : text.slice(0, cut)
  const slash = path.indexOf('/')
  const page = slash === -1 ? path : path.slice(0, slash)
  const item = slash === -1 ? undefined : decoded(path.slice(slash + 1))
  return { page, item, query: new URLSearchParams(cut === -1 ? '' : text.slice(cut + 1)) }
}

/** Writes the part of an address behind `#`, with it. */
export function writeAddress({ page, item, query }: Address): string {
  const path = item === undefined ? page : `${page}/${encodeURIComponent(item)}`
  const text = query.toString()
  return `#/${path}${text === '' ? '' : `?${text}`}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const hash = signal(typeof location === 'undefined' ? '' : location.hash)

/** The address of the page that is shown. */
export const address = computed(() => readAddress(hash.value))

/** Follows the address bar. */
export function followAddress(): void {
  hash.value = location.hash
  addEventListener('hashchange', () => {
    hash.value = location.hash
  })
}

/** Changes members of the query; undefined removes one. Without `isStep`, Back does not return to the old one. */
export function setQuery(
  changes: Readonly<Record<string, string | undefined>>,
  isStep = false,
): void {
  const { page, item, query } = address.value
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, value)
  }
  const text = writeAddress({ page, item, query: next })
  if (isStep) location.hash = text
  else history.replaceState(null, '', text)
  hash.value = text
}
