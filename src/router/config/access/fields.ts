import type { AccessPolicy, PolicyCondition, PolicyRule, PolicyWhen } from '../../access/policy.ts'
import {
  boolean,
  enumeration,
  type Field,
  group,
  list,
  map,
  nonEmpty,
  number,
  union,
} from '../field.ts'

/** Where a router records its decisions, as a configuration file describes it. */
export interface AuditConfig {
  /** The path of the audit log. */
  readonly file: string
  /** What happens while records cannot be written. */
  readonly onFull?: 'block' | 'drop'
}

/** Fields of `policy`. */
export const policyFields: Record<keyof AccessPolicy, Field> = {
  default: {
    type: enumeration('allow', 'deny'),
    meaning: 'What holds where no rule decides.',
    default: 'allow',
    example: 'deny',
  },
  rules: {
    type: list(group('policyRule')),
    meaning:
      'The rules. What one of them denies is denied; else what one of them allows is allowed. Required.',
    example: [{ name: 'reading', allow: ['notes__list', 'search__*'] }],
  },
}

/** Fields of a rule of `policy`. */
export const policyRuleFields: Record<keyof PolicyRule, Field> = {
  name: {
    type: nonEmpty,
    meaning: 'The name of the rule, for the audit log. Required.',
    example: 'reading',
  },
  who: {
    type: group('policyCondition'),
    meaning: 'The callers that the rule applies to.',
    default: '(all)',
    example: { scopes: ['notes:write'] },
  },
  allow: {
    type: list(nonEmpty),
    meaning:
      'Tools that the rule allows, by the names that callers see. `*` matches any characters, here and in the other patterns. Exactly one of `allow` and `deny` is required; it may be empty.',
    example: ['notes__*'],
  },
  deny: {
    type: list(nonEmpty),
    meaning: 'Tools that the rule denies, by the names that callers see.',
    example: ['*__delete_*'],
  },
  prompts: {
    type: list(nonEmpty),
    meaning: 'Prompts that the rule allows or denies, by the names that callers see.',
    default: [],
    example: ['notes__*'],
  },
  resources: {
    type: list(nonEmpty),
    meaning:
      'Resources and skills that the rule allows or denies, by their URIs, and resource templates, by their texts.',
    default: [],
    example: ['notes://*'],
  },
  server: {
    type: nonEmpty,
    meaning: 'The server that the rule is limited to.',
    default: '(all)',
    example: 'notes',
  },
  unless: {
    type: group('policyCondition'),
    meaning: 'Callers that a rule with `deny` does not apply to.',
    default: '(none)',
    example: { roles: ['admin'] },
  },
  when: {
    type: group('policyWhen'),
    meaning: 'What an argument of the call must be for the rule to apply.',
    default: '(anything)',
    example: { argument: 'region', is: { claim: 'region' } },
  },
}

/** Fields of `who` and `unless`. */
export const policyConditionFields: Record<keyof PolicyCondition, Field> = {
  scopes: {
    type: list(nonEmpty, 1),
    meaning:
      'Scopes that the caller must have, all of them. A caller that lacks only these learns which.',
    default: [],
    example: ['notes:write'],
  },
  roles: {
    type: list(nonEmpty, 1),
    meaning: 'Roles of which the caller must have one.',
    default: '(any)',
    example: ['admin', 'ops'],
  },
  clients: {
    type: list(nonEmpty, 1),
    meaning: 'Ids of OAuth clients, one of which must act for the caller.',
    default: '(any)',
    example: ['app-*'],
  },
  principals: {
    type: list(nonEmpty, 1),
    meaning:
      'Ids of principals, one of which the caller must have, such as `key:NAME` for an API key.',
    default: '(any)',
    example: ['key:ada'],
  },
  claims: {
    type: map('claim', list(union(nonEmpty, number(-1e15, 1e15), boolean), 1)),
    meaning:
      'Claims of the token, each with the values of which it must have one. Dots separate the names of members. A claim that is missing or of another type fails the condition, and lifts no denial.',
    default: '(any)',
    example: { tenant: ['acme'] },
  },
  anonymous: {
    type: boolean,
    meaning: 'Whether the caller must be anonymous (`true`) or authenticated (`false`).',
    default: '(either)',
    example: true,
  },
}

/** Fields of `when`. */
export const policyWhenFields: Record<keyof PolicyWhen, Field> = {
  argument: {
    type: nonEmpty,
    meaning: 'The name of the argument. Required.',
    example: 'region',
  },
  is: {
    type: group('policyClaim'),
    meaning: 'What it must be equal to. Required.',
    example: { claim: 'region' },
  },
}

/** Fields of `is`. */
export const policyClaimFields: Record<keyof PolicyWhen['is'], Field> = {
  claim: {
    type: nonEmpty,
    meaning:
      'The name of a claim of the token; if the claim is a list, one of its entries. Required.',
    example: 'region',
  },
}

/** Fields of `audit`. */
export const auditFields: Record<keyof AuditConfig, Field> = {
  file: {
    type: nonEmpty,
    meaning:
      'Path of the file, to which one line is appended for each decision on a call. Required.',
    example: 'audit.jsonl',
  },
  onFull: {
    type: enumeration('block', 'drop'),
    meaning:
      'What happens while records cannot be written as fast as calls arrive, for example because the disk is full: calls wait, or are not recorded but counted.',
    default: 'block',
    example: 'drop',
  },
}
