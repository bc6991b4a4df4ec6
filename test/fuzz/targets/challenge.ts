import assert from 'node:assert/strict'
import { challengeOf, parseChallenges } from '../../../src/auth/documents/challenge.ts'
import { limits } from '../../../src/util/limits/limits.ts'
import type { Random } from '../random.ts'
import { target } from '../target.ts'

/**
 * `WWW-Authenticate` fields: challenges that were written by the grammar are read as they are, and no other
 * text makes the parser throw or return a value that it must ignore.
 */
export const challengeTarget = target(
  'challenge',
  random => {
    const challenges = Array.from({ length: 1 + random.int(4) }, () => madeChallenge(random))
    const field = challenges.map(written).join(random.pick([', ', ',', ' ,\t', ',,']))
    const noise = Buffer.from(random.mutate(Buffer.from(field))).toString('latin1')
    return { challenges, field, noise }
  },
  ({ challenges, field, noise }) => {
    const read = parseChallenges(field).map(({ scheme, params }) => ({
      scheme,
      params: [...params],
    }))
    assert.deepEqual(read, challenges)
    for (const { scheme, params } of parseChallenges(noise)) {
      assert.equal(scheme, scheme.toLowerCase())
      for (const [name, value] of params) {
        assert.equal(name, name.toLowerCase())
        assert.ok(value.length <= limits.challengeBytes.default)
        assert.ok(Buffer.from(value, 'latin1').every(byte => byte >= 0x20 && byte !== 0x7f))
      }
    }
    challengeOf(headersOf(field))
    const headers = attempt(() => headersOf(noise))
    if (headers !== undefined) challengeOf(headers)
  },
)

interface Made {
  readonly scheme: string
  readonly params: readonly (readonly [name: string, value: string])[]
}

const names = ['realm', 'scope', 'error', 'resource_metadata', 'algs', '__proto__', 'x-1'] as const
const values = ['', 'a b', 'x', 'https://a/b?c=d', 'a"b', '\\', 'a, Basic b="c"', '='] as const

function madeChallenge(random: Random): Made {
  const params = new Map<string, string>()
  for (let count = random.int(4); count > 0; count--) {
    params.set(random.pick(names), random.pick(values))
  }
  return { scheme: random.pick(['bearer', 'dpop', 'basic', 'negotiate']), params: [...params] }
}

function written({ scheme, params }: Made): string {
  const parts = params.map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`)
  return parts.length === 0 ? scheme : `${scheme} ${parts.join(', ')}`
}

function headersOf(field: string): Headers {
  return new Headers({ 'www-authenticate': field })
}

/** Returns undefined if the platform accepts no such header. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    assert.ok(error instanceof TypeError)
    return undefined
  }
}
