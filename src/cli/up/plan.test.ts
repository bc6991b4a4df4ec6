// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../router/config/read.ts'
import { planOf } from './plan.ts'

const key = (digit: string) => digit.repeat(64)
const bytes = (digit: string) => Uint8Array.from(Buffer.from(key(digit), 'hex'))

describe('the sealing keys of a plan', () => {
  const options = { listen: [], isPublic: false }
  const configOf = (sealingKeys?: readonly string[]) =>
    readConfig(JSON.stringify({ mcpServers: {}, sealingKeys }), {
      env: { NEW_KEY: key('a'), OLD_KEY: key('b') },
    })

  it('are those of the configuration, with its variables', () => {
    const { router } = planOf(configOf(['${NEW_KEY}', '${OLD_KEY}']), options)
    expect(router.keys).toEqual([bytes('a'), bytes('b')])
  })

  it('are those of the command line, if it names any', () => {
    const { router } = planOf(configOf(['${NEW_KEY}']), { ...options, keys: [bytes('c')] })
    expect(router.keys).toEqual([bytes('c')])
  })

  it('are left to the environment otherwise', () => {
    expect(planOf(configOf(), options).router.keys).toBeUndefined()
  })

  it('are refused without being shown', () => {
    const short = configOf(['c3VwZXItc2VjcmV0'])
    expect(() => planOf(short, options)).toThrow(
      /^sealingKeys: key 1 of 1 is not at least 32 bytes/,
    )
  })
})
