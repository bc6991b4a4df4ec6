import { errorMessage } from '../util/text/error-message.ts'
import type { ObjectShape, Shape } from './shape.ts'
import { readShape } from './shape-reader.ts'

/** A parsed transcript file. */
export interface Transcript {
  /** The prose before the conversation. */
  readonly prose: string
  /** The values of settings such as `serve: NAME`, by name. */
  readonly settings: ReadonlyMap<TranscriptSetting, string>
  /** What is sent and what is expected, in order. */
  readonly steps: readonly TranscriptStep[]
  /** The lines of the file. */
  readonly lines: readonly string[]
}

/** One `>` or `<` line, with the indented lines that continue it. */
export type TranscriptStep = SendMessage | SendText | ExpectMessage

/** Where a step stands in its file. */
export interface StepPosition {
  /** Its first line, starting at 1. */
  readonly line: number
  /** The number of its lines. */
  readonly height: number
}

/** A message to send, in which names are replaced by their values. */
export interface SendMessage extends StepPosition {
  readonly kind: 'say'
  /** The message. */
  readonly shape: Shape
}

/** A text to send unchanged. */
export interface SendText extends StepPosition {
  readonly kind: 'say-exactly'
  /** The text. */
  readonly text: string
}

/** An expected message. */
export interface ExpectMessage extends StepPosition {
  readonly kind: 'expect'
  /** What the message must look like. */
  readonly shape: Shape
  /** Whether it may arrive in any order with adjacent unordered messages. */
  readonly isUnordered: boolean
}

/** The known settings, and their meanings. */
const settings = {
  serve: 'the name of the server to talk to',
  profile: 'the profile of that server',
  revision:
    'the protocol revisions to play it in, one after the other; in it "$revision" is the one',
  meta: 'an object whose members every request carries in `_meta`, unless it has its own',
  proves: 'the ids of the requirements the conversation shows',
} as const

/** A line of settings at the start of a transcript. */
export type TranscriptSetting = keyof typeof settings

/**
 * A difference between a transcript and a server, or a fault of its file; the message starts with the
 * line.
 */
export class TranscriptError extends Error {
  /** The line number, starting at 1; 0 for the end of the file. */
  readonly line: number

  constructor(line: number, message: string, options?: { readonly cause?: unknown }) {
    super(line === 0 ? message : `line ${line}: ${message}`, options)
    this.name = 'TranscriptError'
    this.line = line
  }
}

/**
 * Parses the file of a transcript.
 *
 * It starts with prose, up to the first `serve:`, `>` or `<` line. Settings follow, and then the
 * conversation: `>` sends a message, `>!` sends a text unchanged, `<` is the next expected message, and
 * a block of `<~` lines may arrive in any order. The member `jsonrpc` is omitted. An indented line
 * continues the one before it; empty lines and lines with `#` are ignored. Throws a TranscriptError for
 * any other line.
 */
export function readTranscript(text: string): Transcript {
  const lines = text.split('\n')
  const start = lines.findIndex(line => /^(serve:|[<>])/.test(line))
  if (start < 0) throw new TranscriptError(0, 'the file has no conversation')
  const known = new Map<TranscriptSetting, string>()
  const steps: TranscriptStep[] = []
  for (let at = start; at < lines.length; ) {
    const [source, height] = gather(lines, at)
    const line = at + 1
    at += height
    if (/^\s*(#|$)/.test(source)) continue
    const setting = /^([a-z]+): *(.*)$/s.exec(source)
    if (setting === null) steps.push(step(source, { line, height }))
    else if (steps.length > 0)
      throw new TranscriptError(line, 'settings must come before the first message')
    else addSetting(known, setting[1] ?? '', setting[2] ?? '', line)
  }
  if (steps.length === 0) throw new TranscriptError(0, 'the file has no conversation')
  return { prose: lines.slice(0, start).join('\n').trim(), settings: known, steps, lines }
}

/** Returns the last step of a transcript. */
export function lastStep(transcript: Transcript): TranscriptStep {
  // The check: readTranscript rejects a file without steps.
  return transcript.steps.at(-1) as TranscriptStep
}

/** Returns the revisions that a transcript is played in. */
export function transcriptRevisions(transcript: Transcript): readonly string[] {
  return words(transcript.settings.get('revision'))
}

/** Returns the ids of the requirements that a transcript shows. */
export function provenBy(transcript: Transcript): readonly string[] {
  return words(transcript.settings.get('proves'))
}

/** Returns the `_meta` of requests. Throws a TranscriptError if it is not an object. */
export function metaOf(transcript: Transcript): ObjectShape | undefined {
  const text = transcript.settings.get('meta')
  if (text === undefined) return undefined
  const line = transcript.lines.findIndex(found => found.startsWith('meta:')) + 1
  const shape = shapeOf(text, line)
  if (shape.kind !== 'object') throw new TranscriptError(line, 'meta must be an object')
  return shape
}

/** Returns a line with its continuation lines, and their number. */
function gather(lines: readonly string[], at: number): [source: string, height: number] {
  let end = at + 1
  while (/^\s+\S/.test(lines[end] ?? '')) end++
  return [lines.slice(at, end).join('\n'), end - at]
}

function addSetting(
  known: Map<TranscriptSetting, string>,
  name: string,
  value: string,
  line: number,
): void {
  if (!isSetting(name)) throw new TranscriptError(line, `unknown setting "${name}"`)
  if (known.has(name)) throw new TranscriptError(line, `duplicate setting "${name}"`)
  known.set(name, value.trim())
}

function isSetting(name: string): name is TranscriptSetting {
  return Object.hasOwn(settings, name)
}

function step(source: string, place: StepPosition): TranscriptStep {
  const [, sign = '', text = ''] = /^(>!|>|<~|<)(.*)$/s.exec(source) ?? []
  // The sign becomes spaces, so that reported columns are those of the line.
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
      throw new TranscriptError(place.line, `a line must start with >, >!, < or <~: ${source}`)
  }
}

function shapeOf(text: string, line: number): Shape {
  try {
    return readShape(text)
  } catch (cause) {
    const why = errorMessage(cause)
    throw new TranscriptError(line, why, { cause })
  }
}

function words(text: string | undefined): readonly string[] {
  return (text ?? '').split(/[\s,]+/).filter(word => word !== '')
}
