/** Where the engines of a backplane are, from its address. */
export interface EngineAddress {
  /** One engine, the primary that sentinels know, or the shards of a Redis Cluster. */
  readonly kind: 'single' | 'sentinel' | 'cluster'
  /** The address for messages, without credentials. */
  readonly name: string
  /** The URLs of the engines or sentinels that the address names; those of sentinels have no credentials. */
  readonly urls: readonly string[]
  /** With sentinels: the name of the primary. */
  readonly primary: string
  /** With sentinels: the arguments of `AUTH`; empty without credentials. */
  readonly credentials: readonly string[]
  /** Returns the URL of another engine, with the same credentials. */
  urlOf(host: string, port: string): string
}

const examples = {
  single: 'redis://127.0.0.1:6379',
  sentinel: 'redis-sentinel://10.0.0.1:26379,10.0.0.2:26379/mymaster',
  cluster: 'redis-cluster://10.0.0.1:6379,10.0.0.2:6379',
}

/** Parses the address of a backplane in Redis. Throws a TypeError if it is none. */
export function engineAddress(url: string): EngineAddress {
  const text = typeof url === 'string' ? url : ''
  const [, scheme = '', kind] = /^(rediss?)(?:-(sentinel|cluster))?:\/\//.exec(text) ?? []
  if (kind === 'sentinel' || kind === 'cluster') return severalHosts(text, scheme, kind)
  if (scheme === '' || !URL.canParse(text)) {
    throw new TypeError(
      `the address of a backplane in Redis must start with redis://, rediss://, redis-sentinel:// or redis-cluster:// (for example ${examples.single})`,
    )
  }
  const { protocol, host, username, password } = new URL(text)
  return {
    kind: 'single',
    name: `${protocol}//${host}`,
    urls: [text],
    primary: '',
    credentials: credentialsOf(username, password),
    urlOf: () => text,
  }
}

function severalHosts(text: string, scheme: string, kind: 'sentinel' | 'cluster'): EngineAddress {
  const rest = text.slice(text.indexOf('://') + 3)
  const at = rest.lastIndexOf('@') + 1
  const user = rest.slice(0, at)
  const [list = '', primary = '', ...more] = rest.slice(at).split('/')
  const urls = list.split(',').map(host => hostUrl(scheme, host, kind))
  const isNamed = kind === 'sentinel' ? /^[\w.-]+$/.test(primary) : primary === ''
  const isUser = URL.canParse(`redis://${user}host`)
  const isValid = isNamed && isUser && more.length === 0
  if (!isValid || urls.includes(undefined)) {
    const name = kind === 'sentinel' ? ', a slash and the name of the primary' : ''
    throw new TypeError(
      `an address redis-${kind}:// must list hosts, separated by commas${name} (for example ${examples[kind]})`,
    )
  }
  const { username, password } = new URL(`redis://${user}host`)
  const hosts = urls.flatMap(each => (each === undefined ? [] : [each]))
  const withUser = (each: string) => each.replace('://', `://${user}`)
  const suffix = kind === 'sentinel' ? `/${primary}` : ''
  return {
    kind,
    name: `${scheme}-${kind}://${list}${suffix}`,
    urls: kind === 'sentinel' ? hosts : hosts.map(withUser),
    primary,
    credentials: credentialsOf(username, password),
    urlOf: (host, port) => `${scheme}://${user}${host.includes(':') ? `[${host}]` : host}:${port}`,
  }
}

/** Returns the URL of a listed host, with the usual port if it has none; undefined if it is no host. */
function hostUrl(scheme: string, host: string, kind: 'sentinel' | 'cluster'): string | undefined {
  const url = `${scheme}://${host}`
  if (host === '' || !URL.canParse(url)) return undefined
  const parsed = new URL(url)
  if (parsed.host !== host.toLowerCase() && parsed.host !== host) return undefined
  const port = parsed.port === '' ? `:${kind === 'sentinel' ? 26_379 : 6379}` : ''
  return `${url}${port}`
}

function credentialsOf(username: string, password: string): readonly string[] {
  if (password === '') return []
  const texts = username === '' ? [password] : [username, password]
  return texts.map(decodeURIComponent)
}
