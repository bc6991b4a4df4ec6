import { errorWords } from '../util/error-words.ts'
import type { ObjectShape, Shape } from './shape.ts'
import { readShape } from './shape-reader.ts'

/** What the file of a conversation says, before it is played. */
export interface Transcript {
  /** The words before the conversation. */
  readonly prose: string
  /** What the lines such as `serve: NAME` say, by their names. */
  readonly settings: ReadonlyMap<Setting, string>
  readonly steps: readonly Step[]
  /** The whole text, line by line. */
  readonly lines: readonly string[]
}

/** One `>` or `<` line, with the indented lines that continue it. */
export type Step = Say | SayExactly | Expect

interface Place {
  /** Its first line, counted from one. */
  readonly line: number
  /** How many lines it takes. */
  readonly height: number
}

/** A message to send; names in it are replaced by what they mean. */
export interface Say extends Place {
  readonly kind: 'say'
  readonly shape: Shape
}

/** Text to send as it stands. */
export interface SayExactly extends Place {
  readonly kind: 'say-exactly'
  readonly text: string
}

/** A message that must come. */
export interface Expect extends Place {
  readonly kind: 'expect'
  readonly shape: Shape
  /** It may come in any order with those beside it of which the same is true. */
  readonly isUnordered: boolean
}

/** The settings there are, and what they are for. */
const settings = {
  serve: 'the name of the server to talk to',
  profile: 'the profile of that server',
  revision:
    'the protocol revisions to play it in, one after the other; in it "$revision" is the one',
  meta: 'an object whose members every request carries in `_meta`, unless it has its own',
  proves: 'the ids of the requirements the conversation shows',
} as const

export type Setting = keyof typeof settings

/** What is wrong with a conversation, or with the file of one; the message begins with the line. */
export class TranscriptError extends Error {
  /** Counted from one; 0 for the end of the file. */
  readonly line: number

  constructor(line: number, message: string, options?: { readonly cause?: unknown }) {
    super(line === 0 ? message : `line ${line}: ${message}`, options)
    this.name = 'TranscriptError'
    this.line = line
  }
}

/**
 * Reads the file of a conversation.
 *
 * First comes prose, up to the first `serve:`, `>` or `<` line. Then settings, and then the
 * conversation: `>` sends a message, `>!` sends a text exactly as it stands, `<` is a message that
 * must come next, and a block of `<~` lines may come in any order. The member `jsonrpc` is left out.
 * A line that is indented continues the one before it, empty lines and those with `#` mean nothing.
 * Throws a TranscriptError for any other line.
 */
export function readTranscript(text: string): Transcript {
  const lines = text.split('\n')
  const start = lines.findIndex(line => /^(serve:|[<>])/.test(line))
  if (start < 0) throw new TranscriptError(0, 'there is no conversation in it')
  const known = new Map<Setting, string>()
  const steps: Step[] = []
  for (let at = start; at < lines.length; ) {
    const [source, height] = gather(lines, at)
    const line = at + 1
    at += height
    if (/^\s*(#|$)/.test(source)) continue
    const setting = /^([a-z]+): *(.*)$/s.exec(source)
    if (setting === null) steps.push(step(source, { line, height }))
    else if (steps.length > 0)
      throw new TranscriptError(line, 'settings come before the first line')
    else addSetting(known, setting[1] ?? '', setting[2] ?? '', line)
  }
  if (steps.length === 0) throw new TranscriptError(0, 'there is no conversation in it')
  return { prose: lines.slice(0, start).join('\n').trim(), settings: known, steps, lines }
}

/** The step a conversation ends with. */
export function lastStep(transcript: Transcript): Step {
  // The check: readTranscript refuses a file without steps.
  return transcript.steps.at(-1) as Step
}

/** The revisions a conversation is to be played in. */
export function revisionsOf(transcript: Transcript): readonly string[] {
  return words(transcript.settings.get('revision'))
}

/** The ids of the requirements a conversation shows. */
export function provenBy(transcript: Transcript): readonly string[] {
  return words(transcript.settings.get('proves'))
}

/** What requests carry in `_meta`. Throws a TranscriptError if that is no object. */
export function metaOf(transcript: Transcript): ObjectShape | undefined {
  const text = transcript.settings.get('meta')
  if (text === undefined) return undefined
  const line = transcript.lines.findIndex(found => found.startsWith('meta:')) + 1
  const shape = shapeOf(text, line)
  if (shape.kind !== 'object') throw new TranscriptError(line, 'meta is an object')
  return shape
}

/** A line with those that continue it, and how many they are. */
function gather(lines: readonly string[], at: number): [source: string, height: number] {
  let end = at + 1
  while (/^\s+\S/.test(lines[end] ?? '')) end++
  return [lines.slice(at, end).join('\n'), end - at]
}

function addSetting(known: Map<Setting, string>, name: string, value: string, line: number): void {
  if (!isSetting(name)) throw new TranscriptError(line, `there is no setting "${name}"`)
  if (known.has(name)) throw new TranscriptError(line, `"${name}" is set already`)
  known.set(name, value.trim())
}

function isSetting(name: string): name is Setting {
  return Object.hasOwn(settings, name)
}

function step(source: string, place: Place): Step {
  const [, sign = '', text = ''] = /^(>!|>|<~|<)(.*)$/s.exec(source) ?? []
  // With spaces for the sign, the columns that are told are those of the line.
  const read = (): Shape => shapeOf(' '.repeat(sign.length) + text, place.line)
  switch (sign) {
    case '>':
      return { ...place, kind: 'say', shape: read() }
    case '>!':
      return { ...place, kind: 'say-exactly', text: text.trim() }
    case '<':
    case '<~':
      return { ...place, kind: 'expect', shape: read(), isUnordered: sign === '<~' }
    default:
      throw new TranscriptError(place.line, `a line begins with >, >!, < or <~, not so: ${source}`)
  }
}

function shapeOf(text: string, line: number): Shape {
  try {
    return readShape(text)
  } catch (cause) {
    const why = errorWords(cause)
    throw new TranscriptError(line, why, { cause })
  }
}

function words(text: string | undefined): readonly string[] {
  return (text ?? '').split(/[\s,]+/).filter(word => word !== '')
}
