import { ownMember } from '../../../util/objects.ts'
import { ruleProblem } from '../../access/check-policy.ts'
import type { PolicyRule } from '../../access/policy.ts'
import type { CheckedObject } from '../checked-object.ts'

/** Rules of `policy`: it has rules, with different names. */
export function policyRules({ node, value, report }: CheckedObject): void {
  if (!node.members.has('rules')) report(undefined, 'it needs rules')
  // The check: the field table admits only objects whose name is a text.
  const rules = (value.rules ?? []) as readonly (Partial<PolicyRule> | undefined)[]
  const names = rules.map(rule => rule?.name)
  const twice = names.find((name, at) => name !== undefined && names.indexOf(name) !== at)
  if (twice !== undefined) report('rules', `rules has two rules with the name "${twice}"`)
}

/** Rules of `who` and `unless`: a claim that is written down but ignored would widen the condition. */
export function policyConditionRules({ node, value, report }: CheckedObject): void {
  const claims = node.members.get('claims')?.value
  if (claims?.type !== 'object') return
  for (const name of claims.members.keys()) {
    if (ownMember(value.claims, name) === undefined) {
      report('claims', `claims: ${JSON.stringify(name)} needs a list of texts, numbers or booleans`)
    }
  }
}

/** Rules of one rule of a policy. */
export function policyRuleRules({ value, report }: CheckedObject): void {
  // The check: the field table has checked the type of each member; `ruleProblem` looks for those that are missing.
  const problem = ruleProblem(value as unknown as PolicyRule)
  if (problem !== undefined) report(undefined, problem)
}
