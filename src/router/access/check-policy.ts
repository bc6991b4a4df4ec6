import { isScope } from '../../mcp/scope.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { checkOptions, formatValue, type OptionTableOf } from '../../util/options.ts'
import { isClaimValue } from './claims.ts'
import type { AccessPolicy, PolicyCondition, PolicyRule, PolicyWhen } from './policy.ts'

const policyTable: OptionTableOf<AccessPolicy> = { default: ['allow', 'deny'], rules: 'array' }

const conditionTable: OptionTableOf<PolicyCondition> = {
  scopes: 'strings',
  roles: 'strings',
  clients: 'strings',
  principals: 'strings',
  claims: { '*': 'array' },
  anonymous: 'boolean',
}

const whenTable: OptionTableOf<PolicyWhen> = { argument: 'string', is: { claim: 'string' } }

const ruleTable: OptionTableOf<PolicyRule> = {
  name: 'string',
  who: conditionTable,
  allow: 'strings',
  deny: 'strings',
  prompts: 'strings',
  resources: 'strings',
  server: 'string',
  unless: conditionTable,
  when: whenTable,
}

/** Throws a TypeError that says what is wrong with a policy. */
export function checkPolicy(policy: AccessPolicy): void {
  checkOptions(policy, policyTable, 'policy: ')
  const { rules } = policy
  if (!Array.isArray(rules)) throw new TypeError('policy: it needs "rules", an array')
  const max = limits.policyRules.default
  if (rules.length > max) {
    throw new TypeError(`policy: it must have at most ${max} rules (got ${rules.length})`)
  }
  const names = new Set<string>()
  for (const [at, rule] of rules.entries()) {
    checkOptions(rule, ruleTable, `policy, rule ${at + 1}: `)
    const problem = ruleProblem(rule)
    const where = `policy, rule ${typeof rule.name === 'string' ? formatValue(rule.name) : at + 1}`
    if (problem !== undefined) throw new TypeError(`${where}: ${problem}`)
    if (names.has(rule.name)) throw new TypeError(`${where}: another rule has the same name`)
    names.add(rule.name)
  }
}

/** Returns what is wrong with a rule whose members have the right types; undefined for a valid one. */
export function ruleProblem(rule: PolicyRule): string | undefined {
  const { name, who = {}, unless = {}, when, allow, deny } = rule
  if (name === undefined || name === '') return 'it needs a name'
  if ((allow === undefined) === (deny === undefined)) return 'it must have one of allow and deny'
  if (rule.unless !== undefined && deny === undefined) return 'unless needs deny beside it'
  if (when !== undefined && (when.argument === undefined || when.is?.claim === undefined)) {
    return 'when must be { "argument": …, "is": { "claim": … } }'
  }
  return conditionProblem('who', who) ?? conditionProblem('unless', unless)
}

function conditionProblem(member: string, condition: PolicyCondition): string | undefined {
  const { scopes = [], claims = {}, anonymous, ...others } = condition
  const invalid = scopes.find(scope => !isScope(scope))
  if (invalid !== undefined) return `${member}.scopes: ${formatValue(invalid)} is not a scope`
  for (const [claim, values] of Object.entries(isRecord(claims) ? claims : {})) {
    if (values.length === 0 || !values.every(isClaimValue)) {
      return `${member}.claims: ${formatValue(claim)} needs a list of texts, numbers or booleans`
    }
  }
  const isNamed = Object.values(others).some(value => value !== undefined)
  if (anonymous === true && (isNamed || scopes.length > 0 || Object.keys(claims).length > 0)) {
    return `${member}: an anonymous caller has nothing else that could be required`
  }
  return undefined
}
