import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { keyFile } from '../node-key-file.ts'
import { InvalidToken } from '../verifier.ts'
import { type ApiKeyRecord, apiKeys, newApiKey } from './api-keys.ts'

const request = { method: 'POST', path: '/', audiences: [], certificate: undefined }

test('a key authenticates its owner', async () => {
  const { key, record } = await newApiKey('ci', { scopes: ['a'], roles: ['bot'] })
  expect(key).toMatch(/^tlk_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/)
  expect(JSON.stringify(record)).not.toContain(key.slice(13))
  const verifier = apiKeys({ keys: [record] })
  expect(verifier.recognizes(key)).toBe(true)
  expect((await verifier.verify(key, request)).principal).toEqual({
    id: 'key:ci',
    subject: 'ci',
    scopes: ['a'],
    roles: ['bot'],
    expiresAt: undefined,
    key: record.id,
    verifier: 'key',
  })
})

describe('a key is refused', () => {
  test.each([
    ['with another secret', (key: string) => `${key.slice(0, -4)}AAAA`, {}],
    ['with another id', (key: string) => `tlk_AAAAAAAA${key.slice(12)}`, {}],
    ['that is too short', (key: string) => key.slice(0, -1), {}],
    ['that is longer', (key: string) => `${key}A`, {}],
    ['that is disabled', (key: string) => key, { disabled: true }],
    ['that has expired', (key: string) => key, { expires: '2020-01-01T00:00:00Z' }],
  ])('%s', async (_, change, about) => {
    const { key, record } = await newApiKey('ci')
    const verifier = apiKeys({ keys: [{ ...record, ...about }] })
    await expect(verifier.verify(change(key), request)).rejects.toThrow(InvalidToken)
  })
})

test.each([
  [{ keys: undefined }, 'apiKeys() needs { keys }'],
  [{ keys: [{ name: 'x' }] }, 'API key "x": its id must have 8'],
  [{ keys: [{ name: 'x y', id: 'AAAAAAAA', sha256: 'a'.repeat(64) }] }, 'its name must have'],
  [{ keys: [{ name: 'x', id: 'AAAAAAAA', sha256: 'short' }] }, '"sha256" must be 64'],
  [
    { keys: [{ name: 'x', id: 'AAAAAAAA', sha256: 'a'.repeat(64), scopes: 'a' }] },
    'must be arrays',
  ],
  [{ keys: [{ name: 'x', id: 'AAAAAAAA', sha256: 'a'.repeat(64), expires: 'soon' }] }, '"expires"'],
])('%j is refused', (options, message) => {
  expect(() => apiKeys(options as never)).toThrow(message)
})

test('two keys have different names and ids', async () => {
  const { record } = await newApiKey('ci')
  const other = await newApiKey('ci')
  expect(() => apiKeys({ keys: [record, record] })).toThrow('two API keys have the id')
  expect(() => apiKeys({ keys: [record, other.record] })).toThrow('two API keys have the name "ci"')
})

describe('a file of keys', () => {
  function file(): { path: string; write(keys: readonly unknown[]): void } {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-keys-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'keys.json')
    return {
      path,
      write: keys => writeFileSync(path, JSON.stringify({ keys }), { mode: 0o600 }),
    }
  }

  test('is read again when it changes, and withdrawn keys are refused', async () => {
    const { path, write } = file()
    const one = await newApiKey('one')
    const two = await newApiKey('two')
    write([one.record])
    const source = keyFile(path)
    onTestFinished(() => source.close?.())
    const verifier = apiKeys({ keys: source })
    const withdrawn: string[] = []
    verifier.onKeyWithdrawn = id => withdrawn.push(id)
    await verifier.verify(one.key, request)
    write([two.record])
    const passes = (key: string) =>
      Promise.resolve(verifier.verify(key, request)).then(
        () => true,
        () => false,
      )
    await expect.poll(() => passes(two.key)).toBe(true)
    expect(await passes(one.key)).toBe(false)
    expect(withdrawn).toEqual([one.record.id])
  })

  test('that becomes invalid changes nothing, and is reported', async () => {
    const { path, write } = file()
    const { key, record } = await newApiKey('one')
    write([record])
    const errors: Error[] = []
    const source = keyFile(path, { onError: error => errors.push(error) })
    onTestFinished(() => source.close?.())
    const verifier = apiKeys({ keys: source })
    write([{ name: 'broken' } as Partial<ApiKeyRecord>])
    await expect
      .poll(() => errors)
      .toMatchObject([{ message: expect.stringContaining('"broken"') }])
    expect((await verifier.verify(key, request)).principal.id).toBe('key:one')
  })

  test('that others can read is refused', () => {
    const { path, write } = file()
    write([])
    chmodSync(path, 0o644)
    expect(() => keyFile(path)).toThrow(`others can read it; run: chmod 600 ${path}`)
  })

  test('that is missing or something else is refused', () => {
    const { path } = file()
    expect(() => keyFile(path)).toThrow(/API keys in .*: .*no such file/i)
    writeFileSync(path, '[]', { mode: 0o600 })
    expect(() => keyFile(path)).toThrow('it must be { "keys"')
  })
})
