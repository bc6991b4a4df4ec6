import type { PathHandler } from '../http/beside.ts'
import type { Router } from '../router/router.ts'
import { formatValue } from '../util/options.ts'
import { Feeds } from './feed/feeds.ts'
import { Viewers } from './feed/viewers.ts'
import { Assets } from './http/assets.ts'
import { Gate } from './http/gate.ts'
import { ApiHandler, consoleBase } from './http/handler.ts'
import { consoleRoutes } from './http/routes.ts'
import { type ConsoleOptions, checkConsoleOptions } from './options.ts'
import { Playground } from './play/playground.ts'
import { Checks } from './snapshots/checks.ts'
import { ClientList } from './snapshots/clients.ts'
import { SessionList } from './snapshots/sessions.ts'

/** The console of a router: a page on which a person sees what the router does. Made by `consoleOf`. */
export interface Console extends PathHandler, AsyncDisposable {
  /** The key that a viewer needs. It changes with `renewKey`. */
  readonly key: string
  /** Returns the link that opens the console at an address of the router, such as `http://127.0.0.1:3000/mcp`. */
  link(address: string): string
  /** Replaces the key and closes all pages, which need the new link. */
  renewKey(): void
  /** Unsubscribes from all events and ends all streams. Idempotent. */
  close(): Promise<void>
}

/**
 * Makes the console of a router. Serve it beside the router, at an address that only this machine reaches:
 * `listen(router, 'http://127.0.0.1:3000/mcp', { beside: consoleOf(router, { observer }) })`. The owner closes it.
 *
 * While no page is open, it keeps failed calls, log lines and changes of servers, and reads the metrics once a second;
 * it does not subscribe to calls. Throws a TypeError for invalid options.
 */
export function consoleOf(router: Router, options: ConsoleOptions = {}): Console {
  checkConsoleOptions(options)
  if (typeof router?.toolDefinitions !== 'function') {
    throw new TypeError(`consoleOf() expects a Router, got ${formatValue(router)}`)
  }
  const { observer, actions = 'all', people = 'shown', record = true, assets } = options
  const registry = observer?.registry
  const log = observer?.log
  const onRecording = (isRecording: boolean): void => {
    const what = isRecording ? 'console: recording calls' : 'console: recording has ended'
    log?.write('warn', what)
  }
  const feeds = new Feeds({ router, registry, actions, people, mayRecord: record, onRecording })
  const playground = new Playground(router)
  const viewers = new Viewers(feeds, playground)
  const clients = new ClientList()
  const gate = new Gate({
    actions,
    now: () => performance.now(),
    onAttack: () => log?.write('warn', 'console: too many wrong keys'),
  })
  const sessions = new SessionList(router.callers, people)
  const files = new Assets(assets)
  const checks = new Checks(options.check)
  const shown = { feeds, viewers, clients, sessions, playground, checks }
  const parts = { router, registry, ...shown, assets: files, options }
  const handler = new ApiHandler({
    gate,
    routes: consoleRoutes(parts),
    onError: options.onError ?? (error => log?.write('error', 'console failed', { error })),
  })
  const close = async (): Promise<void> => {
    viewers.close()
    playground.close()
    checks.close()
    clients.close()
    feeds.close()
  }
  return {
    get key() {
      return gate.key
    },
    link: address => `${new URL(`${consoleBase}/`, address).href}#key=${gate.key}`,
    renewKey: () => {
      gate.renew()
      viewers.close()
      playground.close()
    },
    handles: request => handler.handles(request),
    handle: (request, reply) => handler.handle(request, reply),
    close,
    [Symbol.asyncDispose]: close,
  }
}
