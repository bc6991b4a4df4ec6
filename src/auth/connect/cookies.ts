import { isEqualSecret } from '../client/protocol/encoding.ts'

/** The cookies of the pages: `page` identifies the browser, `connect` the approval that it gave. */
export type CookieName = 'page' | 'connect'

/**
 * The cookies of the pages at one origin. Over `https:` their names begin with `__Host-`, so that no other host and no
 * plain connection can set them. Browsers refuse that name without TLS, which is possible on this machine only.
 */
export class Cookies {
  readonly #isSecure: boolean

  constructor(base: URL) {
    this.#isSecure = base.protocol === 'https:'
  }

  /** Returns the name of a cookie. */
  nameOf(name: CookieName): string {
    return `${this.#isSecure ? '__Host-' : ''}trunkline-${name}`
  }

  /** Returns the header that sets a cookie. */
  set(name: CookieName, value: string, maxAgeMs: number): Readonly<Record<string, string>> {
    const parts = [
      `${this.nameOf(name)}=${value}`,
      'Path=/',
      'HttpOnly',
      'SameSite=Lax',
      `Max-Age=${Math.ceil(maxAgeMs / 1000)}`,
      ...(this.#isSecure ? ['Secure'] : []),
    ]
    return { 'set-cookie': parts.join('; ') }
  }

  /** Returns the value of a cookie; undefined if the browser sends none, or two of that name. */
  read(header: string | undefined, name: CookieName): string | undefined {
    const prefix = `${this.nameOf(name)}=`
    const found = (header ?? '')
      .split(';')
      .map(part => part.trim())
      .filter(part => part.startsWith(prefix))
    const [only] = found
    return found.length === 1 ? only?.slice(prefix.length) : undefined
  }

  /** Whether the browser sends a cookie with this value. */
  has(header: string | undefined, name: CookieName, value: string): boolean {
    const found = this.read(header, name)
    return found !== undefined && isEqualSecret(found, value)
  }
}
