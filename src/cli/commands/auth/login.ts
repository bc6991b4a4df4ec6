import { login } from '../../../auth/client/login/login.ts'
import { loopback } from '../../../auth/client/login/loopback.ts'
import { openInBrowser } from '../../../auth/client/login/node-browser.ts'
import { askOnTerminal } from '../../../auth/client/login/node-terminal.ts'
import type { OAuthOptions, OpenPage } from '../../../auth/client/options.ts'
import { isCallbackOf } from '../../../auth/client/protocol/login-flow.ts'
import { fileStore } from '../../../auth/client/store/file-store.ts'
import { writeRegistration } from '../../../auth/client/store/records.ts'
import { hideValue } from '../../../util/text/hidden-values.ts'
import { parseNumber } from '../../arguments.ts'
import { exitCodes, UsageError, withUsageErrors } from '../../exit.ts'
import { grantText } from '../../grant-text.ts'
import type { Invocation, Run } from '../../invocation.ts'
import { loginTarget } from '../../target/authorization.ts'
import { lookUpServers } from '../../target/config-servers.ts'
import { resolveTarget } from '../../target/target.ts'

/** `trunkline login`: logs the user in at a server, and stores the tokens for the other commands. */
export const run: Run = async invocation => {
  const { input, terminal, signal } = invocation
  const { target } = await resolveTarget(input, lookUpServers)
  const server = loginTarget(target)
  const store = fileStore()
  const options = optionsOf(invocation)
  const result = await withUsageErrors(() => login(server, { ...options, store }, signal))
  const { clientId, clientSecret } = options
  if (clientId !== undefined && clientSecret !== undefined) {
    // Renewing the tokens needs the secret, and the variable may be gone by then.
    const { issuer } = result
    await writeRegistration(store, { issuer, clientId, clientSecret, redirectUris: [] })
  }
  const grant = { server: server.href, ...result }
  if (input.has('json')) terminal.json(grant)
  else terminal.line(`logged in: ${grantText(grant, Date.now())}`)
  return exitCodes.ok
}

function optionsOf(invocation: Invocation): OAuthOptions {
  const { input } = invocation
  const port = input.value('callback-port')
  // The check: the parser accepts no other values.
  const host = input.value('callback-host') as '127.0.0.1' | 'localhost' | undefined
  return {
    clientId: input.value('client-id'),
    clientSecret: secretOf(invocation),
    issuer: input.value('issuer'),
    scopes: input.values('scope'),
    dpop: input.has('dpop') ? 'always' : 'auto',
    redirect: loopback({
      port:
        port === undefined
          ? undefined
          : parseNumber('callback-port', port, { max: 65_535, integer: true }),
      host,
    }),
    open: opener(invocation),
  }
}

/** Returns the secret in the environment variable that `--client-secret-env` names. */
function secretOf({ input, env }: Invocation): string | undefined {
  const name = input.value('client-secret-env')
  if (name === undefined) return undefined
  if (!input.has('client-id')) throw new UsageError('--client-secret-env requires --client-id')
  const secret = env[name]
  if (!secret)
    throw new UsageError(`--client-secret-env: the environment variable ${name} is not set`)
  hideValue(secret, `\${${name}}`)
  return secret
}

/** Opens the page in a browser, and prints it; the user may paste the address at which the browser ended. */
function opener({ input, terminal, stdin, env }: Invocation): OpenPage {
  const stderr = { write: (text: string) => terminal.error(text.trimEnd()) }
  return async (url, signal) => {
    if (!input.has('no-browser')) await openInBrowser(url, { platform: process.platform, env })
    const state = url.searchParams.get('state') ?? ''
    return askOnTerminal(url, callback => isCallbackOf({ state }, callback), signal, {
      stdin,
      stderr,
    })
  }
}
