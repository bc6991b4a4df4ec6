/** Who may see and use which tools, prompts and resources of a router. */
export interface AccessPolicy {
  /** What holds where no rule decides. By default `'allow'`. */
  readonly default?: 'allow' | 'deny'
  /** The rules. Their order has no effect: what one of them denies is denied, whatever others allow. */
  readonly rules: readonly PolicyRule[]
}

/** One rule of a policy. It has either `allow` or `deny`. Patterns: `*` matches any characters. */
export interface PolicyRule {
  /** The name of the rule, for the audit log. No two rules have the same. */
  readonly name: string
  /** The callers that the rule applies to. By default all. */
  readonly who?: PolicyCondition
  /** Tools that the rule allows, by the names that callers see. Then it allows `prompts` and `resources` too. */
  readonly allow?: readonly string[]
  /** Tools that the rule denies, by the names that callers see. Then it denies `prompts` and `resources` too. */
  readonly deny?: readonly string[]
  /** Prompts, by the names that callers see. */
  readonly prompts?: readonly string[]
  /** Resources and skills, by their URIs, and resource templates, by their texts. */
  readonly resources?: readonly string[]
  /** The server that the rule is limited to. By default all. */
  readonly server?: string
  /** The callers that a rule with `deny` does not apply to. By default none. */
  readonly unless?: PolicyCondition
  /** What an argument of the call must be for the rule to apply. */
  readonly when?: PolicyWhen
}

/** Selects callers. All parts must hold. */
export interface PolicyCondition {
  /** Scopes that the caller must have, all of them. */
  readonly scopes?: readonly string[]
  /** Roles of which the caller must have one. */
  readonly roles?: readonly string[]
  /** OAuth clients, one of which must act for the caller. */
  readonly clients?: readonly string[]
  /** Ids of principals, one of which the caller must have. */
  readonly principals?: readonly string[]
  /** Claims of the caller, each with the values of which it must have one. */
  readonly claims?: Readonly<Record<string, readonly ClaimValue[]>>
  /** Whether the caller must be anonymous (`true`) or authenticated (`false`). */
  readonly anonymous?: boolean
}

/** A value that a claim can have. In a text, `*` matches any characters. */
export type ClaimValue = string | number | boolean

/** Compares an argument of a call with a claim of its caller. */
export interface PolicyWhen {
  /** The name of the argument. */
  readonly argument: string
  /** What it must be equal to; if the claim is a list, one of its entries. */
  readonly is: {
    /** The name of the claim. */
    readonly claim: string
  }
}
