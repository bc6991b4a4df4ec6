import { describe, expect, test } from 'vitest'
import { profile, profiles } from './profile.ts'

describe('a profile', () => {
  test('is mcp unless said otherwise', () => {
    expect(profile()).toBe(profiles.mcp)
    expect(profile('erlmcp')).toBe(profiles.erlmcp)
  })

  test('can be changed in any field, and changed again', () => {
    const changed = profile('erlmcp', { strictErrorCodes: false })
    expect(changed).toEqual({ ...profiles.erlmcp, strictErrorCodes: false })
    expect(profile(changed)).toBe(changed)
    expect(profile(changed, { nullIds: true })).toEqual({ ...changed, nullIds: true })
    expect(profiles.erlmcp.strictErrorCodes).toBe(true)
  })

  test('is not changed by an option that is undefined', () => {
    expect(profile('jsonrpc', { nullIds: undefined })).toEqual(profiles.jsonrpc)
  })

  test('is named as it is found', () => {
    for (const [name, preset] of Object.entries(profiles)) expect(preset.name).toBe(name)
  })
})
