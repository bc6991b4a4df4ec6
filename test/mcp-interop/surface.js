// The features of every fixture server, so that one list of steps fits them all. Only data, and the
// little state that its tools share; each server decides how to serve it.

export const info = { name: 'everything-fixture', version: '1.0.0' }

export const instructions = 'Every feature of the protocol, once.'

/** A picture and a sound, as small as possible. */
export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

export const uris = {
  text: 'fixture://text',
  binary: 'fixture://binary',
  touched: 'fixture://touched',
  template: 'fixture://items/{id}',
  website: 'https://example.test/consent',
}

/** The listed resources, in order. A page holds two. */
export const resources = [
  { uri: uris.text, name: 'text', description: 'Plain words', mimeType: 'text/plain' },
  { uri: uris.binary, name: 'binary', description: 'A picture', mimeType: 'image/png' },
  { uri: uris.touched, name: 'touched', description: 'Counts touches', mimeType: 'text/plain' },
]

export const pageSize = 2

/** One page of the resources. The cursor is the number of resources before it; undefined if it is invalid. */
export function resourcePage(cursor) {
  const start = cursor === undefined ? 0 : Number(cursor)
  if (!Number.isInteger(start) || start < 0 || start >= resources.length) return undefined
  const end = start + pageSize
  const page = { resources: resources.slice(start, end) }
  return end < resources.length ? { ...page, nextCursor: String(end) } : page
}

export const texts = {
  resource: 'words at rest',
  item: id => `item ${id}`,
  touched: count => `touched ${count} times`,
  broken: 'broken on purpose',
  counted: count => `counted to ${count}`,
  step: number => `step ${number}`,
  cancelled: 'the wait was cancelled',
  grown: 'grown for the occasion',
  greeting: (name, tone) => `Greet ${name} in a ${tone} tone.`,
  plain: 'Say something plain.',
}

/** The elicitation messages of the tools; the responses of a client depend on them alone. */
export const elicitations = {
  who: how => `Who are you? (${how})`,
  first: 'The first word?',
  second: 'The second word?',
  consent: 'Please consent.',
  addressee: 'Whom shall it greet?',
}

/** The fields of the form `who`, as JSON Schema. */
export const whoSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name' },
    age: { type: 'integer', minimum: 0 },
  },
  required: ['name', 'age'],
}

/** The only field of the other forms. */
export const wordSchema = {
  type: 'object',
  properties: { word: { type: 'string' } },
  required: ['word'],
}

const names = ['Ada', 'Adele', 'Alan', 'Grace']
const tones = { formal: ['measured', 'solemn'], other: ['merry', 'mild'] }
const items = ['1', '10', '11', '2']

/** The completions of a name, of a tone, and of the id of an item. */
export const completions = {
  name: value => names.filter(name => name.startsWith(value)),
  /** Grace is addressed formally, which shows that a completion uses its context. */
  tone: (value, name) =>
    (name === 'Grace' ? tones.formal : tones.other).filter(tone => tone.startsWith(value)),
  id: value => items.filter(id => id.startsWith(value)),
}

/** The levels that the tool `logs` uses, in order. */
export const logLevels = ['debug', 'info', 'warning']

/** The state that the tools of one connection share. */
export function fixtureState() {
  let touches = 0
  const cancellations = signals()
  const releases = signals()
  return {
    touch: () => ++touches,
    touches: () => touches,
    /** Records that a wait was cancelled. */
    cancelled: cancellations.give,
    /** Resolves once for each cancelled wait. */
    cancellation: cancellations.take,
    /** Lets one count return. */
    release: releases.give,
    released: releases.take,
  }
}

/** Each signal given is taken once, in either order. */
function signals() {
  let given = 0
  const takers = []
  return {
    give() {
      const taker = takers.shift()
      if (taker === undefined) given++
      else taker()
    },
    take: () =>
      new Promise(resolve => {
        if (given === 0) {
          takers.push(resolve)
          return
        }
        given--
        resolve()
      }),
  }
}
