import { randomHex } from '../../../util/random.ts'
import type { RawMessage, RawNats } from './raw-connection.ts'
import { NatsReplyError, replyCodes } from './reply-errors.ts'
import type { NatsStream } from './subjects.ts'

/** A message that a stream has stored. */
export interface StoredMessage {
  readonly subject: string
  /** Its number in the stream, from 1. */
  readonly sequence: number
  readonly text: string
  /** When the engine stored it, in milliseconds since 1970. */
  readonly storedAt: number
  /** When its contents end, by the clock of the engine; infinite if they do not. */
  readonly until: number
}

/** The configuration of a stream, as far as it matters here. */
export interface StreamConfig {
  readonly storage?: string
  readonly discard?: string
  readonly max_age?: number
  readonly num_replicas?: number
}

/** The header with the time at which the contents of a message end. */
const untilHeader = 'Tl-Until'

/** The room that headers need in a message. */
export const headerBytes = 512

/** Resolves to the configuration of a stream; creates it if there is none. `perSubject`: the messages of a subject that it keeps, -1 for all. */
export async function openStream(
  raw: RawNats,
  { name, subjects }: NatsStream,
  perSubject: number,
): Promise<StreamConfig> {
  const found = await unless(replyCodes.noStream, api(raw, `STREAM.INFO.${name}`, {}))
  if (found !== undefined) return configOf(found)
  const created = await unless(
    replyCodes.streamExists,
    api(raw, `STREAM.CREATE.${name}`, {
      name,
      subjects: [subjects],
      retention: 'limits',
      storage: 'file',
      // A full stream refuses messages instead of deleting others.
      discard: 'new',
      max_msgs_per_subject: perSubject,
      num_replicas: 1,
    }),
  )
  // Otherwise another node has created it at the same time.
  return configOf(created ?? (await api(raw, `STREAM.INFO.${name}`, {})))
}

/** Resolves to the last message of a subject. */
export async function lastMessage(
  raw: RawNats,
  { name }: NatsStream,
  subject: string,
): Promise<StoredMessage | undefined> {
  const query = { last_by_subj: subject }
  const reply = await unless(replyCodes.noMessage, api(raw, `STREAM.MSG.GET.${name}`, query))
  // The check: the API of JetStream documents this reply.
  const message = reply?.message as ApiMessage | undefined
  if (message === undefined) return undefined
  const head = message.hdrs === undefined ? '' : fromBase64(message.hdrs)
  const [, until] = new RegExp(`^${untilHeader}: *(\\S+)`, 'im').exec(head) ?? []
  return {
    subject: message.subject,
    sequence: message.seq,
    text: message.data === undefined ? '' : fromBase64(message.data),
    storedAt: millisecondsOf(message.time),
    until: untilOf(until ?? ''),
  }
}

/**
 * Stores a message. With `after`, only if that is the number of the last message of the subject, 0 for none; otherwise
 * it rejects with the code `wrongSequence`.
 */
export async function storeMessage(
  raw: RawNats,
  { subject, text, until }: Pick<StoredMessage, 'subject' | 'text' | 'until'>,
  after?: number,
): Promise<void> {
  parsed(
    await raw.request(subject, text, {
      ...(until === Number.POSITIVE_INFINITY ? {} : { [untilHeader]: `${until}` }),
      ...(after === undefined ? {} : { 'Nats-Expected-Last-Subject-Sequence': `${after}` }),
    }),
  )
}

/** Deletes a message by its number. */
export async function removeMessage(
  raw: RawNats,
  { name }: NatsStream,
  sequence: number,
): Promise<void> {
  const request = { seq: sequence, no_erase: true }
  await unless(replyCodes.noSuchSequence, api(raw, `STREAM.MSG.DELETE.${name}`, request))
}

/** Deletes the messages of a subject before a number; all of them without it. */
export async function purgeSubject(
  raw: RawNats,
  { name }: NatsStream,
  subject: string,
  before?: number,
): Promise<void> {
  const request = { filter: subject, ...(before === undefined ? {} : { seq: before }) }
  await api(raw, `STREAM.PURGE.${name}`, request)
}

/** Which messages of a stream to read. */
export interface ScanRange {
  /** The subjects: a pattern, or one of them. */
  readonly subject: string
  /** The first message, by its number. By default, only the last message of each subject is read. */
  readonly from?: number
  /** Whether texts are left out. */
  readonly isWithoutText?: boolean
}

/** Messages of a stream that are being read. */
export interface Scan {
  /** The subject to which the engine is asked for the next ones. */
  readonly next: string
  /** The request that ends the scan. */
  readonly end: string
}

/** Starts to read messages. The engine forgets a scan that is not used for 10 s. */
export async function startScan(
  raw: RawNats,
  { name }: NatsStream,
  { subject, from, isWithoutText = false }: ScanRange,
): Promise<Scan> {
  const start =
    from === undefined
      ? { deliver_policy: 'last_per_subject' }
      : { deliver_policy: 'by_start_sequence', opt_start_seq: from }
  const { name: consumer } = await api(raw, `CONSUMER.CREATE.${name}`, {
    stream_name: name,
    config: {
      ...start,
      filter_subject: subject,
      headers_only: isWithoutText,
      ack_policy: 'none',
      replay_policy: 'instant',
      mem_storage: true,
      inactive_threshold: 10_000_000_000,
    },
  })
  const place = `${name}.${String(consumer)}`
  return { next: `${prefix}.CONSUMER.MSG.NEXT.${place}`, end: `CONSUMER.DELETE.${place}` }
}

/** Resolves to the next messages of a scan, at most `max`; to none at the end. */
export function nextMessages(
  raw: RawNats,
  { next }: Scan,
  max: number,
): Promise<readonly StoredMessage[]> {
  return new Promise(resolve => {
    const inbox = `_INBOX.${randomHex(16)}`
    const messages: StoredMessage[] = []
    const end = raw.subscribe(inbox, message => {
      const place = message.isNotice ? undefined : placeOf(message)
      if (place !== undefined) messages.push(storedOf(message, place))
      if (place !== undefined && place.pending > 0 && messages.length < max) return
      end()
      resolve(messages)
    })
    raw.publish(next, JSON.stringify({ batch: max, no_wait: true }), inbox)
  })
}

/** Ends a scan. */
export async function endScan(raw: RawNats, scan: Scan): Promise<void> {
  await api(raw, scan.end, {})
}

const prefix = '$JS.API'

type ApiReply = Readonly<Record<string, unknown>>

interface ApiMessage {
  readonly subject: string
  readonly seq: number
  readonly time: string
  readonly hdrs?: string
  readonly data?: string
}

async function api(raw: RawNats, request: string, body: unknown): Promise<ApiReply> {
  return parsed(await raw.request(`${prefix}.${request}`, JSON.stringify(body)))
}

function parsed(text: string): ApiReply {
  const reply = JSON.parse(text)
  const { error } = reply
  if (error === undefined) return reply
  throw new NatsReplyError(error.err_code ?? error.code, error.description ?? 'no reason given')
}

/** Resolves to undefined if the engine replies with an error of a code. */
async function unless(code: number, reply: Promise<ApiReply>): Promise<ApiReply | undefined> {
  try {
    return await reply
  } catch (error) {
    if (error instanceof NatsReplyError && error.code === code) return undefined
    throw error
  }
}

function configOf({ config }: ApiReply): StreamConfig {
  // The check: the API of JetStream documents this reply.
  return config as StreamConfig
}

interface Place {
  readonly sequence: number
  readonly storedAt: number
  readonly pending: number
}

/** Reads the subject for acknowledgements: "$JS.ACK.<stream>.<consumer>.…", in newer engines with two tokens more. */
function placeOf({ replyTo }: RawMessage): Place | undefined {
  const tokens = replyTo.split('.')
  const [, sequence, , nanoseconds, pending] = tokens.slice(tokens.length > 9 ? 6 : 4).map(Number)
  if (sequence === undefined || nanoseconds === undefined || pending === undefined) return undefined
  return { sequence, storedAt: nanoseconds / 1_000_000, pending }
}

function storedOf(message: RawMessage, { sequence, storedAt }: Place): StoredMessage {
  const { subject, text } = message
  return { subject, text, sequence, storedAt, until: untilOf(message.header(untilHeader)) }
}

function untilOf(header: string): number {
  return header === '' ? Number.POSITIVE_INFINITY : Number(header)
}

/** Returns a time such as "2026-07-28T10:00:00.123456789Z" in milliseconds, with their fraction. */
function millisecondsOf(time: string): number {
  const [, fraction = ''] = /\.(\d+)/.exec(time) ?? []
  const seconds = Date.parse(time.replace(/\.\d+/, ''))
  return seconds + Number(`0.${fraction.padEnd(1, '0')}`) * 1000
}

function fromBase64(text: string): string {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at)
  return new TextDecoder().decode(bytes)
}
