// @ts-check
// The server, and what happens in its sessions besides requests.

import { Server } from 'trunkline'
import { readDocument } from './documents.js'

export const server = new Server(
  {
    name: 'mcp-servers/everything',
    title: 'Everything Reference Server',
    version: '2.0.0',
    instructions: readDocument('instructions.md'),
  },
  { tasks: { ttlMs: 300_000, pollMs: 1000 } },
)

/** @typedef {import('trunkline/server').Session} Session */

/** @type {WeakMap<Session, readonly { uri: string, name?: string }[]>} */
export const rootsOf = new WeakMap()

const syncRoots = async (/** @type {Session} */ session) => {
  const roots = await session.roots()
  rootsOf.set(session, roots)
  const data = `Roots updated: ${roots.length} root(s) received from client`
  session.log('info', data, 'everything-server')
}
server.on('roots', syncRoots)
server.on('ready', session => session.caller?.capabilities.roots && syncRoots(session))

server.on('subscribe', ({ uri, session }) =>
  session?.log('info', `Received Subscribe Resource request for URI: ${uri} `),
)
server.on('unsubscribe', ({ uri, session }) =>
  session?.log('info', `Received Unsubscribe Resource request: ${uri} `),
)

/**
 * Returns a function that repeats an action in a session every five seconds, until it is called again or the
 * session ends. It returns the session, and whether the action is repeated now.
 *
 * @param {(session: Session) => void} action
 */
export function toggle(action) {
  /** @type {Map<Session, NodeJS.Timeout>} */
  const timers = new Map()
  const stop = (/** @type {Session} */ session) => {
    clearInterval(timers.get(session))
    return timers.delete(session)
  }
  return (/** @type {Session | undefined} */ session) => {
    if (session === undefined) throw new Error('This tool needs a session')
    if (stop(session)) return { session, isOn: false }
    timers.set(session, setInterval(action, 5000, session))
    void session.closed.then(() => stop(session))
    action(session)
    return { session, isOn: true }
  }
}
