import { fileURLToPath } from 'node:url'
import type { Cell, DriverName, ServerName } from './capabilities.ts'
import type { ConnectDriver, DriverOptions, McpDriver, Place, Program } from './driver.ts'
import { connectOurs } from './driver-ours.ts'
import { connectSdk1 } from './driver-sdk1.ts'
import { connectSdk2 } from './driver-sdk2.ts'
import { answers } from './scenario.ts'

const connect: Readonly<Record<DriverName, ConnectDriver>> = {
  ours: connectOurs,
  sdk1: connectSdk1,
  sdk2: connectSdk2,
}

/** The program that serves the fixture. */
export function fixtureServer(server: ServerName): Program {
  const path = fileURLToPath(new URL(`server-${server}.js`, import.meta.url))
  return { command: process.execPath, args: [path] }
}

/** Connects the client of a cell to its server, with the handlers of the scenario. */
export function connectCell(
  { driver, server, revision }: Cell,
  onMessage?: DriverOptions['onMessage'],
  place: Place = fixtureServer(server),
): Promise<McpDriver> {
  return connect[driver](place, { answers, revision, onMessage })
}
