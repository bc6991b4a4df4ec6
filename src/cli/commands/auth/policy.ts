import type { Principal } from '../../../jsonrpc/channel.ts'
import { CompiledPolicy } from '../../../router/access/compiled-policy.ts'
import type { AccessPolicy } from '../../../router/access/policy.ts'
import type { Subject } from '../../../router/access/subject.ts'
import { isRecord } from '../../../util/objects.ts'
import { errorMessage } from '../../../util/text/error-message.ts'
import { readPolicyFile } from '../../access/policy-source.ts'
import { exitCodes, FileError, UsageError } from '../../exit.ts'
import type { Run } from '../../invocation.ts'
import { readConfigFile } from '../../target/config-file.ts'

/** `trunkline policy test`: prints what a policy decides about a caller. */
export const run: Run = async ({ input, terminal, env }) => {
  const [action, file, ...names] = input.operands
  if (action !== 'test' || file === undefined) {
    throw new UsageError('the file is missing: trunkline policy test FILE --as claims.json [NAME…]')
  }
  const policy = await readPolicyFile(file, env)
  const as = input.value('as')
  const principal = as === undefined ? undefined : await readPrincipal(as)
  const access = new CompiledPolicy(policy).accessOf(principal)
  const kind = kindOf(input.value('kind'))
  const server = input.value('server') ?? ''
  const decisions = (names.length > 0 ? names : namesIn(policy, kind)).map(name => {
    const { outcome, rule, scopes, isConditional } = access.on({ kind, name, server })
    return { name, outcome, rule, scopes, isConditional }
  })
  if (input.has('json')) {
    terminal.json({ file, principal: principal?.id, decisions })
    return exitCodes.ok
  }
  for (const { name, outcome, rule, scopes, isConditional } of decisions) {
    const by = rule === undefined ? 'the default' : `rule "${rule}"`
    const needs = scopes.length === 0 ? '' : `, needs ${scopes.join(' ')}`
    const when = isConditional ? ', depending on the arguments' : ''
    terminal.line(`${name}: ${outcome} by ${by}${needs}${when}`)
  }
  return exitCodes.ok
}

function kindOf(given: string | undefined): Subject['kind'] {
  return given === 'prompt' || given === 'resource' ? given : 'tool'
}

/** Returns the names and patterns of the rules, each once. A pattern stands for a name that looks like it. */
function namesIn({ rules }: AccessPolicy, kind: Subject['kind']): readonly string[] {
  const all = rules.flatMap(({ allow, deny, prompts, resources }) => {
    const patterns = { tool: allow ?? deny, prompt: prompts, resource: resources }
    return patterns[kind] ?? []
  })
  return [...new Set(all)]
}

/** Reads the claims of a token, and makes the principal of them that a verifier would make. */
async function readPrincipal(file: string): Promise<Principal> {
  try {
    const claims: unknown = JSON.parse((await readConfigFile(file)).text)
    if (!isRecord(claims)) throw new Error('it must be an object')
    const { iss, sub, id, roles, client_id: client = claims.azp } = claims
    const given = claims.scopes ?? claims.scope ?? claims.scp ?? []
    const scopes = typeof given === 'string' ? given.split(' ') : given
    const known = [iss, sub].filter(part => typeof part === 'string').join(' ')
    return {
      id: typeof id === 'string' ? id : known,
      scopes: textsIn(scopes),
      ...(roles !== undefined && { roles: textsIn(roles) }),
      ...(typeof client === 'string' && { client }),
      claims,
    }
  } catch (error) {
    throw new FileError(`claims in ${file}: ${errorMessage(error)}`, { cause: error })
  }
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : []
}
