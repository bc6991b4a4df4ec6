import { formatValue } from '../../../util/options.ts'
import type { EngineLogin } from './raw-connection.ts'

/** Where an engine is. */
export interface NatsAddress extends EngineLogin {
  /** The address without the password, for messages. */
  readonly name: string
}

const form =
  'an address such as nats://HOST:4222, or nats://HOST,HOST,HOST for the engines of one cluster'

/** Parses the address of an engine. Throws a TypeError if it is none; the message contains no password. */
export function natsAddress(url: string): NatsAddress {
  const [, scheme = '', login, hosts = ''] =
    /^(nats|tls):\/\/(?:([^@/]*)@)?([^@/?#]+)\/?$/.exec(url) ?? []
  if (hosts === '') {
    const shown = formatValue(typeof url === 'string' ? url.replace(/\/\/.*@/, '//…@') : url)
    throw new TypeError(`the engine of a cluster in NATS needs ${form} (got ${shown})`)
  }
  const servers = hosts.split(',')
  for (const server of servers) {
    if (!URL.canParse(`http://${server}`)) {
      throw new TypeError(`${formatValue(server)} is no host with a port; use ${form}`)
    }
  }
  const [first = '', password] = (login ?? '').split(':').map(decodeURIComponent)
  return {
    name: `${scheme}://${hosts}`,
    servers,
    isTls: scheme === 'tls',
    ...(login === undefined
      ? {}
      : password === undefined
        ? { token: first }
        : { user: first, password }),
  }
}
