import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { webPage } from './node-browser.ts'

/** The terminal of a program. */
export interface LoginTerminal {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stderr: { write(text: string): unknown }
}

/**
 * Prints the address of the page on which to log in. On a terminal, the user may paste the address to which a browser
 * on another machine was redirected; resolves to it once it belongs to this login. Resolves to undefined if nobody
 * can paste one, or when the signal is aborted. Throws a TypeError for an address that is not a web page.
 */
export async function askOnTerminal(
  url: URL,
  isExpected: (callback: URL) => boolean,
  signal: AbortSignal,
  { stdin, stderr }: LoginTerminal = process,
): Promise<URL | undefined> {
  stderr.write(`Open this page to log in:\n\n  ${webPage(url)}\n\n`)
  if (stdin.isTTY !== true || signal.aborted) return undefined
  stderr.write(`${PROMPT}\n`)
  const lines = createInterface({ input: stdin, signal })
  try {
    for await (const line of lines) {
      const text = line.trim()
      const callback = URL.canParse(text) ? new URL(text) : undefined
      if (callback !== undefined && isExpected(callback)) return callback
      if (text !== '') stderr.write(`That address does not belong to this login. ${PROMPT}\n`)
    }
    return undefined
  } finally {
    lines.close()
  }
}

const PROMPT =
  'If the browser runs on another machine, paste the whole address that it shows at the end.'
