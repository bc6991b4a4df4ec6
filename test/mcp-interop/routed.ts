import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { UpstreamOptions } from '../../src/router/options.ts'
import type { DriverName, ServerName } from './capabilities.ts'
import { fixtureServer } from './cells.ts'
import type { Place, Program, Revision } from './driver.ts'

const routerFile = fileURLToPath(new URL('server-router.js', import.meta.url))

/** A client, a router, and its upstream server. */
export interface RoutedCell {
  readonly driver: DriverName
  /** The revision of the client. */
  readonly revision: Revision
  readonly front: 'stdio' | '/mcp' | '/sse'
  readonly server: ServerName
  /** The revision that the router speaks to the server. */
  readonly behind: Revision
  readonly back: 'stdio' | 'http'
  readonly connections?: UpstreamOptions['connections']
}

/** A place to connect to, and a function that stops what was started for it. */
export interface Routed {
  readonly place: Place
  end(): Promise<void>
}

/** Starts what a cell needs before a client can connect. */
export async function routedPlace(cell: RoutedCell): Promise<Routed> {
  const { command, args } = fixtureServer(cell.server)
  const program = { command, args, env: { REVISION: cell.behind } }
  if (cell.back === 'stdio') return routerBefore({ ...program, ...sharing(cell) }, cell.front)
  const behind = await listening(command, [...args, '--http', '0'], { REVISION: cell.behind })
  const routed = await routerBefore({ url: `${behind.base}/mcp`, ...sharing(cell) }, cell.front)
  const end = async (): Promise<void> => {
    await routed.end()
    await behind.end()
  }
  return { place: routed.place, end }
}

/** A router before a server: a program to start, or one that already listens. */
export async function routerBefore(
  upstream: UpstreamOptions,
  front: RoutedCell['front'],
): Promise<Routed> {
  const program: Program = {
    command: process.execPath,
    args: [routerFile, JSON.stringify(upstream)],
  }
  if (front === 'stdio') return { place: program, end: async () => {} }
  const router = await listening(program.command, [...program.args, '--http', '0'])
  return { place: { url: router.base + front }, end: router.end }
}

function sharing({ connections }: RoutedCell): UpstreamOptions {
  return connections === undefined ? {} : { connections }
}

/** Starts a program and waits until it prints its address. */
export async function listening(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly base: string; end(): Promise<void> }> {
  const child: ChildProcess = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  })
  let base = ''
  let words = ''
  while (base === '') {
    words += String((await once(child.stderr ?? child, 'data'))[0])
    base = /listening on (http:\S+?)\/mcp/.exec(words)?.[1] ?? ''
  }
  const end = async (): Promise<void> => {
    child.kill()
    await once(child, 'exit')
  }
  return { base, end }
}
