/** The media types a client accepts, from its `Accept` header. */
export interface Accepts {
  readonly json: boolean
  readonly events: boolean
}

/** Parses an `Accept` header. Without one a client accepts everything. */
export function acceptsOf(header: string | undefined): Accepts {
  if (header === undefined) return both
  // Almost every client sends one of these two spellings.
  if (header === common || header === 'application/json,text/event-stream') return both
  if (header === 'text/event-stream') return eventsAlone
  let json = false
  let events = false
  for (const range of header.split(',')) {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    if (parameters.some(parameter => /^q=0(?:\.0*)?$/.test(parameter))) continue
    if (type === '*/*' || type === 'application/*' || type === 'application/json') json = true
    if (type === '*/*' || type === 'text/*' || type === 'text/event-stream') events = true
  }
  return { json, events }
}

const both: Accepts = { json: true, events: true }
const eventsAlone: Accepts = { json: false, events: true }
const common = 'application/json, text/event-stream'
