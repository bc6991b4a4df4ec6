import { fileURLToPath } from 'node:url'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import type { DecodeOptions } from '../../src/jsonrpc/decode.ts'
import { RpcError } from '../../src/jsonrpc/error.ts'
import { Peer } from '../../src/jsonrpc/peer.ts'
import { type ProfileName, profiles } from '../../src/mcp/profile.ts'
import { settings } from '../../src/protocol.ts'
import type { Transcript } from '../../src/testing/transcript.ts'
import { answers } from '../matrix/answers.js'

/** A server that transcripts talk to. */
export interface Fixture {
  /** Serves one connection. */
  attach(channel: Channel): void
  /** How its messages are read. */
  readonly decode?: DecodeOptions
  /** The same server as a program on its stdio: the file and its arguments. */
  readonly program: readonly string[]
}

/** The server that a transcript asks for. Throws an Error if there is none of that name. */
export function fixtureFor(transcript: Transcript): Fixture {
  const name = transcript.settings.get('serve') ?? ''
  const make = fixtures.get(name)
  if (make === undefined) throw new Error(`there is no server "${name}" for transcripts`)
  return make(transcript.settings.get('profile'))
}

/** By the names that `serve:` lines call them. Each gets what the line `profile:` says. */
const fixtures: ReadonlyMap<string, (profile: string | undefined) => Fixture> = new Map([
  ['jsonrpc', jsonrpc],
])

function jsonrpc(profile = 'jsonrpc'): Fixture {
  if (!isProfile(profile)) throw new Error(`there is no profile "${profile}"`)
  const { decode, peer } = settings({ protocol: 'jsonrpc', profile })
  const program = fileURLToPath(new URL('../matrix/child-server.js', import.meta.url))
  return {
    attach: channel => void new Peer(channel, answers(RpcError), { ...peer, onError: () => {} }),
    decode,
    program: [program, JSON.stringify({ profile })],
  }
}

function isProfile(name: string): name is ProfileName {
  return Object.hasOwn(profiles, name)
}
