// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../router/config/read.ts'
import { planOf } from './plan.ts'

const key = (digit: string) => digit.repeat(64)
const bytes = (digit: string) => Uint8Array.from(Buffer.from(key(digit), 'hex'))

describe('the views of a plan', () => {
  const address = 'http://127.0.0.1:3001/mcp'
  const views = { code: { listen: address }, all: {} }
  const config = readConfig(JSON.stringify({ mcpServers: {}, views }), { env: {} })

  it('are served at their addresses', () => {
    const { view, viewAddresses, router } = planOf(config, { listen: [], isPublic: false })
    expect([view, viewAddresses]).toEqual([undefined, { code: [address] }])
    expect(router.views).toEqual({ code: {}, all: {} })
  })

  it('have no addresses of their own if the command line says what is served', () => {
    const other = planOf(config, { listen: ['stdio:'], isPublic: false })
    expect(other.viewAddresses).toEqual({})
    const one = planOf(config, { listen: [], view: 'all', isPublic: false })
    expect([one.view, one.viewAddresses]).toEqual(['all', {}])
  })

  it('must exist', () => {
    const options = { listen: [], view: 'cod', isPublic: false }
    expect(() => planOf(config, options)).toThrow('no view "cod"; did you mean "code"?')
  })

  it('must not be reachable from other machines', () => {
    const open = { mcpServers: {}, views: { code: { listen: 'http://0.0.0.0:1/mcp' } } }
    const file = { env: {}, file: 'trunkline.json' }
    const read = () => readConfig(JSON.stringify(open), file)
    expect(read).toThrow(/views has an address that other machines can reach/)
  })
})

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

describe('a plan with auth', () => {
  const listen = ['http://0.0.0.0:1/mcp']
  const plan = (auth: object, more: object = {}, options: object = {}) => {
    const text = JSON.stringify({ mcpServers: {}, auth: { apiKeys: 'k.json', ...auth }, ...more })
    const config = readConfig(text, { env: {} })
    return planOf(config, { listen, isPublic: false, ...options })
  }
  const resource = 'https://tools.example/mcp'

  it('may be reached from other machines', () => {
    expect(plan({ resource })).toMatchObject({ listen, auth: { resource } })
  })

  it('needs to know its address there', () => {
    expect(() => plan({})).toThrow('auth needs "resource"')
    expect(plan({}, {}, { listen: [] }).auth).toEqual({ apiKeys: { file: 'k.json' } })
  })

  it('shows no metrics to everybody', () => {
    expect(() => plan({ resource }, { metrics: true })).toThrow('would need no authentication')
    expect(plan({ resource }, { metrics: true }, { isPublic: true }).metrics).toBe(true)
    expect(() => plan({ resource }, {}, { metrics: 'http://0.0.0.0:2' })).toThrow('--public')
  })
})
