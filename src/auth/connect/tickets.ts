import type { Principal } from '../../jsonrpc/channel.ts'
import type { Sealer } from '../../util/crypto/seal.ts'
import { isRecord, stringsIn } from '../../util/objects.ts'
import { randomText } from '../client/protocol/encoding.ts'
import { Flows } from './flows.ts'

/** What a user is asked to allow: the content of a ticket, which has no secret. */
export interface GrantTicket {
  /** Makes the ticket unique. It is used once. */
  readonly nonce: string
  /** The id of the principal that the ticket was made for. */
  readonly principal: string
  /** The issuer and the subject of its token, by which its browser is recognized. */
  readonly issuer?: string
  readonly subject?: string
  /** The name of the server, as users know it. */
  readonly name: string
  /** The address of the server. */
  readonly server: string
  /** The issuer of the authorization server of that server. */
  readonly grantedBy: string
  /** The scopes to ask for there. */
  readonly scopes: readonly string[]
  /** Identifies the request to visit the page. */
  readonly elicitationId: string
}

/** Why a ticket is not accepted. */
export type TicketProblem = 'invalid' | 'expired' | 'used'

const binding = { purpose: 'connect', method: 'ticket' } as const

/** Makes tickets and opens them, each for a limited time and until it was used. */
export class Tickets {
  readonly #sealer: Sealer
  readonly #ms: number
  readonly #used: Flows<true>

  constructor(sealer: Sealer, ms: number) {
    this.#sealer = sealer
    this.#ms = ms
    // A ticket that was used has expired before this is forgotten.
    this.#used = new Flows(ms)
  }

  /** Makes a ticket for a principal. */
  seal(
    { id, issuer, subject }: Principal,
    asked: Pick<GrantTicket, 'name' | 'server' | 'grantedBy' | 'scopes' | 'elicitationId'>,
  ): Promise<string> {
    const ticket: GrantTicket = { nonce: randomText(), principal: id, issuer, subject, ...asked }
    return this.#sealer.seal(ticket, binding, { ttlMs: this.#ms })
  }

  /** Opens a ticket, or returns why it is not accepted. */
  async open(text: string): Promise<GrantTicket | TicketProblem> {
    const opened = await this.#sealer.open(text, binding)
    if (!opened.ok) return opened.why === 'expired' ? 'expired' : 'invalid'
    const ticket = ticketIn(opened.value)
    if (ticket === undefined) return 'invalid'
    return this.#used.has(ticket.nonce) ? 'used' : ticket
  }

  /** Marks a ticket as used. Returns false if it was used before. */
  use({ nonce }: GrantTicket): boolean {
    if (this.#used.has(nonce)) return false
    this.#used.add(nonce, true)
    return true
  }

  /** Makes a ticket usable again, because nothing came of its use. */
  release({ nonce }: GrantTicket): void {
    this.#used.take(nonce)
  }
}

/** Reads the content of a ticket; undefined if another version has made it. */
function ticketIn(value: unknown): GrantTicket | undefined {
  if (!isRecord(value)) return undefined
  const { nonce, principal, issuer, subject, name, server, grantedBy, elicitationId } = value
  const scopes = stringsIn(value.scopes)
  const texts = [nonce, principal, name, server, grantedBy, elicitationId]
  if (scopes === undefined || !texts.every(text => typeof text === 'string')) return undefined
  return {
    nonce: String(nonce),
    principal: String(principal),
    ...(typeof issuer === 'string' && { issuer }),
    ...(typeof subject === 'string' && { subject }),
    name: String(name),
    server: String(server),
    grantedBy: String(grantedBy),
    scopes,
    elicitationId: String(elicitationId),
  }
}
