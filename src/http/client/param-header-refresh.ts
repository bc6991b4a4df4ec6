import { textOf } from '../../jsonrpc/codec/text.ts'
import type { Decoded, Message } from '../../jsonrpc/message.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import type { Line } from './endpoint.ts'
import type { Posting, Recipient } from './post.ts'

/** Sends a request whose answer goes to its own recipient. */
export type Ask = (message: Message, body: string, recipient: Recipient) => void

/**
 * Asks for the list of tools once more, as far as the tool of a call, and tells whether the call would
 * have other headers now. Never rejects.
 */
export async function refreshed(posting: Posting, line: Line, ask: Ask): Promise<boolean> {
  const { message } = posting
  // No id of the caller's: those of its own making are numbers, and this one names its call.
  const name = `tools-for-${[...posting.waiting].join('-')}`
  const params = 'params' in message && isRecord(message.params) ? message.params : {}
  const headers = () => JSON.stringify(line.tools.headersOf(params))
  const before = headers()
  const _meta = { ...(isRecord(params._meta) ? params._meta : {}) }
  delete _meta[metaKeys.progressToken]
  let cursor: unknown
  for (let page = 0; page < limits.pages.default; page++) {
    const asked = { ...(cursor !== undefined && { cursor }), _meta }
    const listed = await list(asked, `${name}-${page}`, ask)
    if (!isRecord(listed)) return false
    const tools = Array.isArray(listed.tools) ? listed.tools : []
    if (tools.some(tool => isRecord(tool) && tool.name === params.name)) return headers() !== before
    cursor = listed.nextCursor
    if (typeof cursor !== 'string' || posting.leash.isCut) return false
  }
  return false
}

/** One page of tools, which is learned on its way here; undefined for anything else. */
function list(params: Record<string, unknown>, id: string, ask: Ask): Promise<unknown> {
  return new Promise(resolve => {
    const message: Message = { type: 'request', id, method: 'tools/list', params }
    ask(message, textOf(message), {
      receive: (arrival: Decoded) => {
        if (arrival.type === 'result') resolve(arrival.result)
        else if (arrival.type !== 'notification') resolve(undefined)
      },
      failed: () => resolve(undefined),
    })
  })
}
