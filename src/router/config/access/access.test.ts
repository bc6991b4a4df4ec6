import { describe, expect, test } from 'vitest'
import { diffConfig } from '../diff.ts'
import { ConfigError } from '../issue.ts'
import { readConfig, readPolicyConfig } from '../read.ts'

const auth = { apiKeys: 'keys.json' }
const rule = { name: 'r', allow: ['*'] }
const read = (more: object) =>
  readConfig(JSON.stringify({ mcpServers: {}, auth, ...more }), { env: {} })

describe('policy in a file', () => {
  test('is read, as an object or as the path of another file', () => {
    const policy = {
      default: 'deny',
      rules: [{ ...rule, who: { claims: { level: [3, true, 'x'] } } }],
    }
    expect(read({ policy }).policy).toEqual(policy)
    expect(read({ policy: 'policy.jsonc' }).policy).toBe('policy.jsonc')
    expect(readPolicyConfig('{ "rules": [], /* none */ }', { env: {} })).toEqual({ rules: [] })
    expect(() => readPolicyConfig('{ "rules": [{}] }', { env: {} })).toThrow(ConfigError)
  })

  test('is an error with its place without auth', () => {
    const text = '{ "mcpServers": {},\n  "policy": "p.jsonc" }'
    expect(() => readConfig(text, { env: {}, file: 'c.json' })).toThrow(
      'c.json:2:3: policy requires auth',
    )
  })

  test.each<[string, object, string]>([
    ['no rules', {}, 'policy: it needs rules'],
    ['a rule without a name', { rules: [{ allow: [] }] }, 'policy.rules[0]: it needs a name'],
    ['a rule without an effect', { rules: [{ name: 'r' }] }, 'one of allow and deny'],
    ['two rules of one name', { rules: [rule, rule] }, 'two rules with the name "r"'],
    ['an unknown key', { rules: [{ ...rule, whom: {} }] }, 'did you mean "who"?'],
    [
      'a claim that is null',
      { rules: [{ ...rule, who: { claims: { a: null } } }] },
      '"a" needs a list',
    ],
    ['a claim without values', { rules: [{ ...rule, who: { claims: { a: [] } } }] }, 'is empty'],
    ['a condition that is null', { rules: [{ ...rule, who: null }] }, 'policy.rules[0].who'],
    ['a rule that is null', { rules: [null] }, 'policy.rules[0]'],
    ['no scopes in a list', { rules: [{ ...rule, who: { scopes: [] } }] }, 'is empty'],
    ['half a when', { rules: [{ ...rule, when: { argument: 'a' } }] }, 'when must be'],
  ])('is refused with %s', (_, policy, message) => {
    expect(() => read({ policy })).toThrow(message)
  })

  test('is no setting that needs a restart', () => {
    const [before, after] = [read({}), read({ policy: { rules: [rule] } })]
    expect(diffConfig(before, after)).toMatchObject({ policyChanged: true, settings: [] })
    expect(diffConfig(after, after).policyChanged).toBe(false)
  })
})

test('audit has the path of a file as a shorthand, and needs a restart', () => {
  expect(read({ audit: 'a.jsonl' }).audit).toEqual({ file: 'a.jsonl' })
  expect(read({ audit: { file: 'a.jsonl', onFull: 'drop' } }).audit?.onFull).toBe('drop')
  expect(() => read({ audit: {} })).toThrow('audit: it needs file')
  expect(diffConfig(read({}), read({ audit: 'a.jsonl' })).settings).toEqual(['audit'])
})
