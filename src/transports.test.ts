import { describe, expect, test } from 'vitest'
import { parseAddress } from './address.ts'
import { addressSchemes } from './router/config/values.ts'
import { addressesOf } from './serve-address.ts'
import { transportOf, transports } from './transports.ts'

const platforms = { unix: 'linux', pipe: 'win32' } as Readonly<Record<string, string>>

describe.each(transports)('the transport $scheme', transport => {
  const { kind, scheme, secureScheme, locator } = transport
  const platform = platforms[scheme] ?? 'linux'

  test('is the only one of its kind, and found by its addresses', () => {
    expect(transports.filter(other => other.kind === kind)).toEqual([transport])
    const value = locator === 'path' ? 'name' : '4000'
    const [address = ''] = addressesOf([`--${scheme}`, value], {})
    expect(address.startsWith(`${scheme}:`)).toBe(true)
    expect(transportOf(parseAddress(address, platform))).toBe(transport)
    if (secureScheme === undefined) return
    const secure = address.replace(scheme, secureScheme)
    expect(transportOf(parseAddress(secure, platform))).toBe(transport)
  })

  test('is named in the message about an unknown address', () => {
    expect(() => parseAddress('nowhere')).toThrow(transport.form)
  })

  test('is known to the configuration of the router', () => {
    expect(addressSchemes.listen).toContain(scheme)
    if (secureScheme !== undefined) expect(addressSchemes.listen).toContain(secureScheme)
    const connectable = locator === 'none' ? [] : [scheme, secureScheme ?? scheme]
    for (const name of connectable) expect(addressSchemes.connect).toContain(name)
  })
})
