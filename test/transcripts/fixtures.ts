import { fileURLToPath } from 'node:url'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import type { DecodeOptions } from '../../src/jsonrpc/codec/decode.ts'
import { RpcError } from '../../src/jsonrpc/error.ts'
import { Peer } from '../../src/jsonrpc/peer/peer.ts'
import { audio, embed, image, link, text } from '../../src/mcp/content/content.ts'
import { errors } from '../../src/mcp/errors/constructors.ts'
import { decodeOptions, type ProfileName, profile, profiles } from '../../src/mcp/profile.ts'
import { settings } from '../../src/protocol.ts'
import { inputRequired } from '../../src/server/input/input-required.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import { Server } from '../../src/server/server.ts'
import type { Transcript } from '../../src/testing/transcript.ts'
import { bare, everything, type Kit } from '../fixtures/everything.js'
import { answers } from '../matrix/answers.js'

/** A server that transcripts talk to. */
export interface Fixture {
  /** Serves one connection. */
  attach(channel: Channel): void
  /** How its messages are decoded. */
  readonly decode?: DecodeOptions
  /** The same server as a program on its stdio: the file and its arguments. */
  readonly program: readonly string[]
  /** Whether that program starts another conversation when its parent sends a message. */
  readonly begins: boolean
  /** Whether its messages must conform to the specification. */
  readonly isChecked: boolean
}

/**
 * Returns the server that a transcript names; transcripts with the same name share it. Throws an Error
 * if there is none of that name.
 */
export function fixtureFor(transcript: Transcript): Fixture {
  const name = transcript.settings.get('serve') ?? ''
  const profile = transcript.settings.get('profile')
  if (profile !== undefined && !isProfile(profile)) {
    throw new Error(`unknown profile "${profile}"`)
  }
  const key = `${name} ${profile}`
  let fixture = made.get(key)
  if (fixture === undefined) {
    fixture = make(name, profile)
    made.set(key, fixture)
  }
  return fixture
}

const made = new Map<string, Fixture>()

function make(name: string, profile: ProfileName | undefined): Fixture {
  if (name === 'jsonrpc') return jsonrpc(profile)
  const options = servers.get(name)
  if (options === undefined) throw new Error(`unknown server "${name}" for transcripts`)
  return mcp({ serve: 'everything', ...options, profile })
}

interface Choice extends ServerOptions {
  readonly serve?: 'everything' | 'bare'
  readonly profile?: ProfileName
}

/** The servers by their names in `serve:` lines, apart from plain JSON-RPC. */
const servers: ReadonlyMap<string, Choice> = new Map<string, Choice>([
  ['everything', {}],
  ['one tool', { serve: 'bare' }],
  ['everything without sessions', { revisions: ['2026-07-28'] }],
  ['everything until 2025-06-18', { revisions: ['2024-11-05', '2025-03-26', '2025-06-18'] }],
])

const kit: Kit = { Server, RpcError, errors, inputRequired, text, image, audio, link, embed }

function mcp({ serve, ...options }: Choice): Fixture {
  const server = serve === 'bare' ? bare(kit, options) : everything(kit, options)
  return {
    attach: channel => server.attach(channel),
    decode: decodeOptions(profile(options.profile)),
    program: [
      fileURLToPath(new URL('../fixtures/everything-stdio.js', import.meta.url)),
      JSON.stringify({ serve, ...options }),
    ],
    begins: true,
    isChecked: options.profile === undefined || options.profile === 'mcp',
  }
}

function jsonrpc(profile: ProfileName = 'jsonrpc'): Fixture {
  const { decode, peer } = settings({ protocol: 'jsonrpc', profile })
  return {
    attach: channel => void new Peer(channel, answers(RpcError), { ...peer, onError: () => {} }),
    decode,
    program: [
      fileURLToPath(new URL('../matrix/child-server.js', import.meta.url)),
      JSON.stringify({ profile }),
    ],
    begins: false,
    isChecked: false,
  }
}

function isProfile(name: string): name is ProfileName {
  return Object.hasOwn(profiles, name)
}
