import { spawn } from 'node:child_process'

/** The environment in which a browser would be started. */
export interface BrowserEnvironment {
  readonly platform: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Opens a page in the browser of the user. Resolves to false if there is none, for example without a display or
 * over SSH. The address is an argument of its own, and no shell ever sees it. Throws a TypeError for an address that
 * is not a web page.
 */
export async function openInBrowser(
  url: URL,
  { platform, env }: BrowserEnvironment = process,
  start: typeof spawn = spawn,
): Promise<boolean> {
  const page = webPage(url)
  const command = commandOf({ platform, env })
  if (command === undefined) return false
  const [program, ...args] = command
  return new Promise(resolve => {
    const child = start(program, [...args, page], {
      stdio: 'ignore',
      detached: true,
      shell: false,
      windowsHide: true,
    })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

/** Returns the text of a URL that may be handed to another program. Throws a TypeError for any other. */
export function webPage(url: URL): string {
  const { href, protocol, hostname, username, password } = url
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
  const isWeb = protocol === 'https:' || (protocol === 'http:' && isLoopback)
  // Serializing a URL encodes spaces, quotes and control characters; nothing else may be left.
  if (!isWeb || username !== '' || password !== '' || !/^[\x21-\x7e]+$/.test(href))
    throw new TypeError(`${protocol}//${url.host} is not a page that may be opened`)
  return href
}

type Command = readonly [program: string, ...args: string[]]

/** Returns the program that opens pages; undefined if nobody would see them. */
function commandOf({ platform, env }: BrowserEnvironment): Command | undefined {
  if (env.SSH_CONNECTION || env.SSH_TTY) return undefined
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : undefined
}
