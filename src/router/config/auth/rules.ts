import type { CheckedObject } from '../checked-object.ts'

const verifiers = ['jwt', 'introspection', 'apiKeys'] as const

/** Rules of `auth`: at least one way to verify callers. */
export function authRules({ node, report }: CheckedObject): void {
  if (verifiers.some(name => node.members.has(name))) return
  report(undefined, `auth needs one of ${verifiers.join(', ')}`)
}

/** Returns a rule that requires members. */
export function requiring(...names: readonly string[]) {
  return ({ node, report }: CheckedObject): void => {
    const missing = names.filter(name => !node.members.has(name))
    if (missing.length > 0) report(undefined, `it needs ${missing.join(' and ')}`)
  }
}

/** Reports a secret that is written into the file instead of a reference to it. */
function refuseLiteral(name: string, { node, report }: CheckedObject): void {
  const member = node.members.get(name)?.value
  if (member?.type !== 'string' || /(?<!\$)\$\{[^}]+\}/.test(member.value)) return
  report(name, `${name} must be a reference such as "\${NAME}", so that the file has no secret`)
}

/** Rules of `auth` of a server: one way, and no secret in the file. */
export function serverAuthRules(object: CheckedObject): void {
  const { node, report } = object
  if (node.members.has('bearer') === node.members.has('clientCredentials'))
    report(undefined, 'auth must have one of bearer and clientCredentials')
  refuseLiteral('bearer', object)
}

/** Rules of `clientCredentials`. */
export function clientCredentialsRules(object: CheckedObject): void {
  requiring('issuer', 'clientId', 'clientSecret')(object)
  refuseLiteral('clientSecret', object)
}

/** Rules of `introspection`. */
export function introspectionRules(object: CheckedObject): void {
  requiring('issuer', 'endpoint', 'clientId', 'clientSecret')(object)
  refuseLiteral('clientSecret', object)
}

/** Whether headers in a file authorize requests. */
export function hasAuthorization(headers: unknown): boolean {
  return Object.keys(headers ?? {}).some(name => /^authorization$/i.test(name))
}
