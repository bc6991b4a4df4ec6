/** The streams and subjects of one cluster in an engine. */
export interface NatsSubjects {
  /** The stream of documents, of which each subject keeps one message: the present state. */
  readonly documents: NatsStream
  /** The stream of logs, of which each subject keeps many messages. */
  readonly logs: NatsStream
  record(key: string): string
  set(set: string): string
  bucket(bucket: string): string
  slots(name: string): string
  /** The document of all members. */
  readonly members: string
  /** A random text that tells whether the engine was emptied. */
  readonly born: string
  /** A message whose time of arrival tells the time of the engine. */
  readonly time: string
  /** The lease of the node that removes what has ended. */
  readonly sweep: string
  log(key: string): string
  /** The subject of a channel, which no stream keeps. */
  channel(channel: string): string
}

/** A stream: its name, and the subjects that it keeps. */
export interface NatsStream {
  readonly name: string
  readonly subjects: string
}

/** Returns the streams and subjects of a cluster. */
export function natsSubjects(cluster: string): NatsSubjects {
  const name = token(cluster)
  const prefix = `tl.${name}`
  const of = (kind: string) => (key: string) => `${prefix}.${kind}.${token(key)}`
  return {
    documents: { name: `tl-documents-${name}`, subjects: `${prefix}.doc.>` },
    logs: { name: `tl-logs-${name}`, subjects: `${prefix}.log.*` },
    record: of('doc.k'),
    set: of('doc.z'),
    bucket: of('doc.b'),
    slots: of('doc.s'),
    members: `${prefix}.doc.members`,
    born: `${prefix}.doc.born`,
    time: `${prefix}.doc.time`,
    sweep: `${prefix}.doc.sweep`,
    log: of('log'),
    channel: of('bus'),
  }
}

/** Returns a text as one token of a subject: letters, digits, and few other characters. Different texts stay different. */
function token(text: string): string {
  return encodeURIComponent(text).replaceAll(/[.*]/g, escaped).replaceAll('%', '=')
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
