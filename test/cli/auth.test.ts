import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bearer, memoryStore, oauth } from '../../src/auth/index.ts'
import { connect } from '../../src/connect.ts'
import { devIssuer } from '../../src/testing/dev-issuer/dev-issuer.ts'
import { pollOptions } from '../support/poll-options.ts'
import { trunkline } from './bin.ts'
import { started } from './started.ts'

const root = new URL('../../dist/index.js', import.meta.url).href
const serverFile = `import { Server } from '${root}'
export const server = new Server({ name: 'who', version: '1' })
server.tool('who', {}, (_, { caller }) => String(caller.principal?.subject ?? 'nobody'))
`
/** The same server as a program behind a router, which never learns who calls. */
const programFile = `${serverFile}
const { serve } = await import('${root}')
await serve(server)
`

/** A folder with a server, an issuer, a key file, and the object `auth` that accepts the tokens of both. */
async function prepared() {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-auth-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const issuer = await devIssuer()
  onTestFinished(() => issuer.close())
  const keys = join(folder, 'keys.json')
  const made = await trunkline(['keys', 'new', 'ada', '--file', keys, '--scope', 'mcp'])
  expect(made.stderr).not.toContain('error')
  writeFileSync(join(folder, 'server.mjs'), serverFile)
  writeFileSync(join(folder, 'program.mjs'), programFile)
  const auth = { jwt: { issuer: issuer.issuer }, apiKeys: keys, scopes: ['mcp'] }
  return { folder, issuer, keys, key: made.stdout.trim(), auth }
}

/** Starts a command that serves, and returns its address. */
async function addressOf(args: readonly string[], cwd: string): Promise<string> {
  const { report } = await started(args, { cwd })
  return report.addresses[0]
}

type Prepared = Awaited<ReturnType<typeof prepared>>

const up = ({ folder, auth }: Prepared) => {
  const who = { command: process.execPath, args: [join(folder, 'program.mjs')] }
  writeFileSync(join(folder, 'trunkline.json'), JSON.stringify({ mcpServers: { who }, auth }))
  return addressOf(['up', '--listen', 'http://127.0.0.1:0/mcp'], folder)
}
const serve = ({ folder, auth }: Prepared) => {
  writeFileSync(join(folder, 'auth.json'), JSON.stringify(auth))
  return addressOf(['serve', 'server.mjs', '--http', '0', '--auth', 'auth.json'], folder)
}

test.each([
  ['up with "auth"', up, 'who__who', 'nobody'],
  ['serve --auth FILE', serve, 'who', 'ada'],
] as const)(
  '%s accepts tokens and keys in both eras, and nothing else',
  async (_, run, tool, answer) => {
    const all = await prepared()
    const { issuer, key, keys } = all
    const address = await run(all)
    const token = await issuer.token({ audience: address, scopes: ['mcp'] })
    for (const era of ['session', 'stateless'] as const) {
      for (const credential of [token, key]) {
        await using client = await connect(address, { era, auth: bearer(credential) })
        expect((await client.call(tool, {})).text).toBe(answer)
      }
      const login = oauth({
        redirect: 'http://127.0.0.1:9/callback',
        open: issuer.browser(),
        store: memoryStore(),
      })
      await using client = await connect(address, { era, auth: login })
      expect((await client.call(tool, {})).text).toBe(answer)
      const wrong = [
        await issuer.token({ audience: `${address}/other`, scopes: ['mcp'] }),
        await issuer.token({ audience: address }),
        `${key.slice(0, -2)}__`,
      ]
      for (const one of wrong)
        await expect(connect(address, { era, auth: bearer(one) })).rejects.toThrow()
      await expect(connect(address, { era })).rejects.toThrow()
    }
    // A revoked key ends a connection that is open.
    const revoked = await connect(address, { era: 'session', auth: bearer(key) })
    onTestFinished(() => revoked.close())
    expect((await trunkline(['keys', 'revoke', 'ada', '--file', keys])).code).toBe(0)
    await expect
      .poll(
        () =>
          revoked.call(tool, {}).then(
            () => 'accepted',
            () => 'refused',
          ),
        pollOptions,
      )
      .toBe('refused')
  },
)
