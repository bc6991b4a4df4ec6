import { BlockList, isIP } from 'node:net'
import { formatValue } from '../util/options.ts'

/**
 * Returns a function that returns whether an address is that of a trusted proxy: one of these addresses,
 * such as `10.0.0.7`, or in one of these networks, such as `10.0.0.0/8`. Throws a TypeError for anything
 * else.
 */
export function trustedProxies(proxies: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const proxy of proxies) {
    const [address = '', bits, ...more] = proxy.split('/')
    const family = isIP(address)
    const max = family === 4 ? 32 : 128
    const prefix = bits === undefined ? max : Number(bits)
    const isValid = more.length === 0 && bits !== '' && prefix >= 0 && prefix <= max
    if (family === 0 || !isValid || !Number.isInteger(prefix)) {
      const form = 'addresses such as "10.0.0.7" or networks such as "10.0.0.0/8"'
      throw new TypeError(`option "trustedProxies" must list ${form} (got ${formatValue(proxy)})`)
    }
    list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6')
  }
  return address => {
    const family = isIP(address)
    return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
  }
}
