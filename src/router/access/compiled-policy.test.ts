import { describe, expect, test } from 'vitest'
import type { Principal } from '../../jsonrpc/channel.ts'
import { limits } from '../../util/limits/limits.ts'
import { CompiledPolicy } from './compiled-policy.ts'
import type { AccessPolicy, PolicyCondition, PolicyRule } from './policy.ts'
import type { Subject } from './subject.ts'

const tool = (name: string, server = 'notes'): Subject => ({ kind: 'tool', name, server })

function decided(policy: AccessPolicy, principal: Principal | undefined, subject: Subject): string {
  const { outcome, rule, scopes } = new CompiledPolicy(policy).accessOf(principal).on(subject)
  return [outcome, rule ?? 'default', ...scopes].join(' ')
}

const policy: AccessPolicy = {
  default: 'deny',
  rules: [
    { name: 'reading', allow: ['notes__list', 'search__*'] },
    { name: 'writing', who: { scopes: ['notes:write'] }, allow: ['notes__*'] },
    {
      name: 'staff',
      who: { roles: ['admin', 'ops'], claims: { tenant: ['acme'] } },
      allow: ['*'],
      prompts: ['*'],
      resources: ['notes://*'],
    },
    { name: 'no deletion', deny: ['*__delete_*'], unless: { roles: ['admin'] } },
  ],
}
const admin: Principal = { id: 'a', roles: ['admin'], claims: { tenant: 'acme' } }

describe('a policy', () => {
  test.each<[string, Principal | undefined, Subject, string]>([
    ['allows', { id: 'x' }, tool('notes__list'), 'allowed reading'],
    [
      'allows anonymous callers what needs nothing',
      undefined,
      tool('search__x'),
      'allowed reading',
    ],
    ['asks for scopes', { id: 'x' }, tool('notes__add'), 'challenged writing notes:write'],
    ['knows scopes', { id: 'x', scopes: ['notes:write'] }, tool('notes__add'), 'allowed writing'],
    ['hides by default', { id: 'x' }, tool('orders__get'), 'hidden default'],
    ['allows by role and claim', admin, tool('orders__get'), 'allowed staff'],
    ['lifts a denial', admin, tool('notes__delete_all'), 'allowed staff'],
    ['needs the claim', { id: 'x', roles: ['admin'] }, tool('orders__get'), 'hidden default'],
    [
      'lets a denial win',
      { id: 'x', roles: ['ops'], scopes: ['notes:write'], claims: { tenant: 'acme' } },
      tool('notes__delete_all'),
      'hidden no deletion',
    ],
    ['decides about prompts', admin, { ...tool('p'), kind: 'prompt' }, 'allowed staff'],
    ['hides prompts', { id: 'x' }, { ...tool('p'), kind: 'prompt' }, 'hidden default'],
    ['decides about resources', admin, { ...tool('notes://1'), kind: 'resource' }, 'allowed staff'],
    ['hides resources', admin, { ...tool('file:///x'), kind: 'resource' }, 'hidden default'],
  ])('%s', (_, principal, subject, expected) => {
    expect(decided(policy, principal, subject)).toBe(expected)
  })

  test('takes the rule with the fewest missing scopes', () => {
    const rules: readonly PolicyRule[] = [
      { name: 'far', who: { scopes: ['a', 'b', 'c'] }, allow: ['t'] },
      { name: 'near', who: { scopes: ['d', 'b'] }, allow: ['t'] },
    ]
    const closed: AccessPolicy = { default: 'deny', rules }
    expect(decided(closed, { id: 'x' }, tool('t'))).toBe('challenged near d b')
    // All scopes of the rule are named: a client that asks for fewer would lose those it has.
    const held = { id: 'x', scopes: ['a', 'b'] }
    expect(decided(closed, held, tool('t'))).toBe('challenged far a b c')
  })

  test('asks for the scopes that lift a denial, together with those that allow', () => {
    const rules: readonly PolicyRule[] = [
      { name: 'writers', who: { scopes: ['write'] }, allow: ['*'] },
      { name: 'careful', deny: ['*_all'], unless: { scopes: ['purge'] } },
    ]
    const closed: AccessPolicy = { default: 'deny', rules }
    expect(decided(closed, { id: 'x' }, tool('x_all'))).toBe('challenged careful purge write')
    const both = { id: 'x', scopes: ['purge', 'write'] }
    expect(decided(closed, both, tool('x_all'))).toBe('allowed writers')
    expect(decided({ rules }, { id: 'x' }, tool('x_all'))).toBe('challenged careful purge')
  })

  test('is limited to a server', () => {
    const rules: readonly PolicyRule[] = [{ name: 'r', server: 'no*', deny: ['*'] }]
    expect(decided({ rules }, undefined, tool('t', 'notes'))).toBe('hidden r')
    expect(decided({ rules }, undefined, tool('t', 'orders'))).toBe('allowed default')
  })

  const odd: readonly (readonly [string, unknown])[] = [
    ['missing', undefined],
    ['null', null],
    ['a number', 7],
    ['an object', { acme: true }],
    ['a list of other types', [{ a: 1 }, 3]],
  ]
  test.each(odd)('with a claim that is %s, allows nothing and lifts no denial', (_, tenant) => {
    const who: PolicyCondition = { claims: { tenant: ['acme'] } }
    const principal: Principal = { id: 'x', claims: { tenant } }
    const of = (rule: Partial<PolicyRule>, byDefault: 'allow' | 'deny') =>
      decided({ default: byDefault, rules: [{ name: 'r', ...rule }] }, principal, tool('t'))
    expect(of({ who, allow: ['*'] }, 'deny')).toBe('hidden default')
    expect(of({ deny: ['*'], unless: who }, 'allow')).toBe('hidden r')
    expect(of({ who, deny: ['*'] }, 'allow')).toBe('hidden r')
    const when = { argument: 'tenant', is: { claim: 'tenant' } }
    if (typeof tenant !== 'number') expect(of({ when, deny: ['*'] }, 'allow')).toBe('hidden r')
    if (typeof tenant !== 'number')
      expect(of({ when, allow: ['*'] }, 'deny')).toBe('hidden default')
  })

  test.each<[string, PolicyCondition, Principal | undefined, boolean]>([
    ['a client', { clients: ['app-*'] }, { id: 'x', client: 'app-1' }, true],
    ['no client', { clients: ['*'] }, { id: 'x' }, false],
    ['a principal', { principals: ['key:*'] }, { id: 'key:ada' }, true],
    ['no principal', { principals: ['*'] }, undefined, false],
    ['an anonymous caller', { anonymous: true }, undefined, true],
    ['no anonymous caller', { anonymous: false }, undefined, false],
    [
      'a claim in a list',
      { claims: { groups: ['b*'] } },
      { id: 'x', claims: { groups: ['bx'] } },
      true,
    ],
    ['a boolean claim', { claims: { staff: [true] } }, { id: 'x', claims: { staff: true } }, true],
    ['a path', { claims: { 'a.b': ['c'] } }, { id: 'x', claims: { a: { b: 'c' } } }, true],
    [
      'no inherited claim',
      { claims: { 'constructor.name': ['Object'] } },
      { id: 'x', claims: {} },
      false,
    ],
  ])('selects by %s', (_, who, principal, isAllowed) => {
    const closed: AccessPolicy = { default: 'deny', rules: [{ name: 'r', who, allow: ['*'] }] }
    expect(decided(closed, principal, tool('t'))).toBe(isAllowed ? 'allowed r' : 'hidden default')
  })

  test('compares an argument with a claim', () => {
    const when = { argument: 'region', is: { claim: 'region' } }
    const allow = new CompiledPolicy({
      default: 'deny',
      rules: [{ name: 'own', allow: ['*'], when }],
    })
    const deny = new CompiledPolicy({ rules: [{ name: 'not own', deny: ['*'], when }] })
    const principal = { id: 'x', claims: { region: ['eu', 'us'] } }
    expect(allow.accessOf(principal).on(tool('t'))).toMatchObject({
      outcome: 'allowed',
      isConditional: true,
    })
    const of = (compiled: CompiledPolicy, args: Record<string, unknown>) =>
      compiled.accessOf(principal).onCall(tool('t'), args).outcome
    expect(of(allow, { region: 'eu' })).toBe('allowed')
    expect(of(deny, { region: 'eu' })).toBe('refused')
    expect(of(allow, { region: 'cn' })).toBe('refused')
    expect(of(deny, { region: 'cn' })).toBe('allowed')
    for (const odd of [{}, { region: ['eu'] }, { region: null }, { region: 1 }]) {
      expect(of(allow, odd)).toBe('refused')
      expect(of(deny, odd)).toBe('refused')
    }
  })

  test('is compiled once for each principal, and shared by those with the same access', () => {
    const compiled = new CompiledPolicy(policy)
    const principal = { id: 'x' }
    expect(compiled.accessOf(principal)).toBe(compiled.accessOf(principal))
    const [one, other] = ['one', 'other'].map(id => compiled.accessOf({ id }))
    const entry = { route: { name: 's' }, shown: { name: 't' } }
    expect(one?.onEntry('tool', entry)).toBe(other?.onEntry('tool', entry))
  })

  test('decides anew when there are too many groups of callers', () => {
    const rules = Array.from({ length: 12 }, (_, at) => {
      return { name: `${at}`, who: { scopes: [`s${at}`] }, allow: ['t'] }
    })
    const compiled = new CompiledPolicy({ default: 'deny', rules })
    for (let caller = 0; caller <= limits.accessProfiles.default; caller++) {
      const scopes = rules.flatMap(({ who }, at) => ((caller >> at) & 1 ? who.scopes : []))
      const { outcome } = compiled.accessOf({ id: `${caller}`, scopes }).on(tool('t'))
      expect(outcome).toBe(caller === 0 ? 'challenged' : 'allowed')
    }
  })
})

describe('an invalid policy', () => {
  const rule = { name: 'r', allow: ['*'] }
  test.each<[string, unknown, string]>([
    ['no rules', {}, 'it needs "rules"'],
    ['an unknown member', { rules: [], defaults: 'deny' }, 'did you mean "default"?'],
    ['an unknown default', { rules: [], default: 'no' }, '"default" must be'],
    ['no name', { rules: [{ allow: ['*'] }] }, 'rule 1: it needs a name'],
    ['a name twice', { rules: [rule, rule] }, 'rule "r": another rule has the same name'],
    ['neither effect', { rules: [{ name: 'r' }] }, 'it must have one of allow and deny'],
    ['both effects', { rules: [{ ...rule, deny: ['x'] }] }, 'it must have one of allow and deny'],
    ['unless with allow', { rules: [{ ...rule, unless: {} }] }, 'unless needs deny'],
    ['half a when', { rules: [{ ...rule, when: { argument: 'x' } }] }, 'when must be'],
    ['an invalid scope', { rules: [{ ...rule, who: { scopes: ['a b'] } }] }, 'is not a scope'],
    ['no values', { rules: [{ ...rule, who: { claims: { a: [] } } }] }, 'needs a list'],
    ['odd values', { rules: [{ ...rule, who: { claims: { a: [{}] } } }] }, 'needs a list'],
    [
      'an anonymous caller with a role',
      { rules: [{ ...rule, who: { anonymous: true, roles: ['x'] } }] },
      'an anonymous caller has nothing else',
    ],
    [
      'too many rules',
      { rules: Array.from({ length: limits.policyRules.default + 1 }, () => rule) },
      'at most 20000 rules',
    ],
  ])('with %s is refused', (_, given, message) => {
    // The check: that it is none is what is tested.
    expect(() => new CompiledPolicy(given as AccessPolicy)).toThrow(message)
  })
})
