import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../connect.ts'
import { Server } from '../../server/server.ts'
import type { Listener } from '../../transport/listener.ts'
import { checkFree, closeAll, listenAll } from './listeners.ts'

const endpoint = new Server({ name: 'it', version: '1.0.0' })
endpoint.tool('say', {}, () => 'still here')
const how = { ops: undefined, isAnyPort: false, onError: () => {} }

async function listening(before: ReadonlyMap<string, Listener> | undefined, ...to: string[]) {
  const listeners = await listenAll(endpoint, to, how, before)
  onTestFinished(() => closeAll(listeners))
  return listeners
}

/** An address with a free port. */
async function address(): Promise<string> {
  const listeners = await listenAll(endpoint, ['tcp://127.0.0.1:0'], how)
  await closeAll(listeners)
  return listeners.get('tcp://127.0.0.1:0')?.address ?? ''
}

test('checks whether addresses are available without keeping them', async () => {
  const [free, taken] = [await address(), await address()]
  await listening(undefined, taken)
  await expect(checkFree([free, taken, 'stdio:'])).rejects.toThrow('already in use')
  await checkFree([free, 'stdio:'])
  await listening(undefined, free)
})

test('keeps an address open while others are added and removed', async () => {
  const [stays, goes, comes] = [await address(), await address(), await address()]
  const before = await listening(undefined, stays, goes)
  await using client = await connect(stays)
  const after = await listening(before, stays, comes)
  await closeAll(before, after)
  expect([...after.keys()]).toEqual([stays, comes])
  expect(after.get(stays)).toBe(before.get(stays))
  expect((await client.call('say')).text).toBe('still here')
  await expect(connect(goes)).rejects.toThrow()
  await (await connect(comes)).close()
})

test('if one address fails, no new one is served', async () => {
  const [stays, comes] = [await address(), await address()]
  const before = await listening(undefined, stays)
  const taken = await listening(undefined, await address())
  const [other = ''] = taken.keys()
  await expect(listenAll(endpoint, [stays, comes, other], how, before)).rejects.toThrow()
  await expect(connect(comes)).rejects.toThrow()
  await (await connect(stays)).close()
})
