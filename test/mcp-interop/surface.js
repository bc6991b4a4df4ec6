// What every fixture server offers, so that one list of steps fits them all. Data only, and the little
// state that its tools share; how it is served is each server's own affair.

export const info = { name: 'everything-fixture', version: '1.0.0' }

export const instructions = 'Every feature of the protocol, once.'

/** A picture and a sound, as small as they come. */
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

/** The listed resources, in order. They come two to a page. */
export const resources = [
  { uri: uris.text, name: 'text', description: 'Plain words', mimeType: 'text/plain' },
  { uri: uris.binary, name: 'binary', description: 'A picture', mimeType: 'image/png' },
  { uri: uris.touched, name: 'touched', description: 'Counts touches', mimeType: 'text/plain' },
]

export const pageSize = 2

/** One page of the resources. The cursor is the number of those before it; undefined for a wrong one. */
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

/** The questions of the tools, which is all that a client's answers go by. */
export const questions = {
  who: how => `Who are you? (${how})`,
  first: 'The first word?',
  second: 'The second word?',
  consent: 'Please consent.',
  addressee: 'Whom shall it greet?',
}

/** The fields that the question who asks for, as JSON Schema. */
export const whoSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name' },
    age: { type: 'integer', minimum: 0 },
  },
  required: ['name', 'age'],
}

/** The one field that the other questions ask for. */
export const wordSchema = {
  type: 'object',
  properties: { word: { type: 'string' } },
  required: ['word'],
}

const names = ['Ada', 'Adele', 'Alan', 'Grace']
const tones = { formal: ['measured', 'solemn'], other: ['merry', 'mild'] }
const items = ['1', '10', '11', '2']

/** What may stand in for the beginning of a name, of a tone, and of an item's id. */
export const completions = {
  name: value => names.filter(name => name.startsWith(value)),
  /** Who is called Grace is addressed formally; this is what the context of a completion is for. */
  tone: (value, name) =>
    (name === 'Grace' ? tones.formal : tones.other).filter(tone => tone.startsWith(value)),
  id: value => items.filter(id => id.startsWith(value)),
}

/** The levels that the tool `logs` uses, in order. */
export const logLevels = ['debug', 'info', 'warning']

/** What the tools of one connection share. */
export function fixtureState() {
  let touches = 0
  const cancellations = signals()
  const releases = signals()
  return {
    touch: () => ++touches,
    touches: () => touches,
    /** A wait was given up. */
    cancelled: cancellations.give,
    /** Resolves when a wait has been given up that nobody was told of. */
    cancellation: cancellations.take,
    /** A count may be answered. */
    release: releases.give,
    released: releases.take,
  }
}

/** Each one given is taken once, whichever comes first. */
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
