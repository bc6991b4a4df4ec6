import { redactText } from '../../observe/log/redact.ts'
import type { MetricRegistry } from '../../observe/metrics/registry.ts'
import type { Router } from '../../router/router.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import type { Feeds } from '../feed/feeds.ts'
import type { Viewers } from '../feed/viewers.ts'
import type { ConsoleOptions } from '../options.ts'
import type { Playground } from '../play/playground.ts'
import type { Checks } from '../snapshots/checks.ts'
import type { ClientList } from '../snapshots/clients.ts'
import { nodesAnswer } from '../snapshots/nodes.ts'
import type { SessionList } from '../snapshots/sessions.ts'
import { pinRows, slowestTools, toolDetails, toolsAnswer } from '../snapshots/tools.ts'
import type { ConfigAnswer, ConnectAnswer, ServerAnswer, StateAnswer } from '../wire.ts'
import { ApiError, type ConsoleRoute, textMember } from './api.ts'
import type { Assets } from './assets.ts'
import { playRoutes } from './play-routes.ts'

/** What the routes are made of. */
export interface RouteParts {
  readonly router: Router
  readonly registry: MetricRegistry | undefined
  readonly feeds: Feeds
  readonly viewers: Viewers
  readonly clients: ClientList
  readonly sessions: SessionList
  readonly playground: Playground
  readonly checks: Checks
  readonly assets: Assets
  readonly options: ConsoleOptions
}

/**
 * The table of all routes of the console, below `/console`. A test walks it and attacks every row. A GET request
 * changes nothing.
 */
export function consoleRoutes(parts: RouteParts): readonly ConsoleRoute[] {
  const { router, registry, feeds, viewers, sessions, checks, assets, options } = parts
  return [
    { method: 'GET', path: '/', access: 'open', text: () => assets.file('index.html') },
    {
      method: 'GET',
      path: '/assets/:file',
      access: 'open',
      text: ({ path }) => assets.file(path.file ?? ''),
    },
    { method: 'GET', path: '/api/state', access: 'reads', json: () => stateAnswer(parts) },
    {
      method: 'GET',
      path: '/api/stream',
      access: 'reads',
      stream: ({ query }, reply, headers) => viewers.open(query, reply, headers),
    },
    {
      method: 'GET',
      path: '/api/figures',
      access: 'reads',
      json: ({ query }) => ({ points: pointsIn(feeds, query.get('range') ?? '5m') }),
    },
    {
      method: 'GET',
      path: '/api/servers/:name',
      access: 'reads',
      json: ({ path }) => serverAnswer(parts, path.name ?? ''),
    },
    {
      method: 'POST',
      path: '/api/servers/:name/retry',
      access: 'changes',
      json: ({ path }) => {
        if (!router.retry(path.name ?? '')) throw noServer(path.name ?? '')
      },
    },
    {
      method: 'GET',
      path: '/api/tools',
      access: 'reads',
      json: () => toolsAnswer(router, registry),
    },
    {
      method: 'GET',
      path: '/api/tools/:name',
      access: 'reads',
      json: ({ path }) => toolDetails(router, registry, path.name ?? ''),
    },
    {
      method: 'POST',
      path: '/api/pins/approve',
      access: 'changes',
      json: ({ body }) => approve(router, body),
    },
    {
      method: 'GET',
      path: '/api/calls/:seq/recording',
      access: 'reads',
      json: ({ path }) => {
        const found = feeds.recorder.find(call => String(feeds.calls.seqOf(call)) === path.seq)
        if (found !== undefined) return found
        throw new ApiError(404, 'not_recorded', 'the call was not recorded, or is forgotten')
      },
    },
    {
      method: 'POST',
      path: '/api/record',
      access: 'changes',
      json: ({ body }) => record(feeds, body),
    },
    { method: 'GET', path: '/api/nodes', access: 'reads', json: () => nodesAnswer() },
    { method: 'GET', path: '/api/sessions', access: 'reads', json: () => sessions.read() },
    {
      method: 'POST',
      path: '/api/sessions/:handle/end',
      access: 'changes',
      json: ({ path }) => sessions.end(path.handle ?? ''),
    },
    {
      method: 'POST',
      path: '/api/tasks/:handle/cancel',
      access: 'changes',
      json: ({ path }) => sessions.cancelTask(path.handle ?? ''),
    },
    {
      method: 'GET',
      path: '/api/calls',
      access: 'reads',
      json: () => ({ rows: feeds.calls.list() }),
    },
    { method: 'GET', path: '/api/checks', access: 'reads', json: () => checks.read() },
    {
      method: 'POST',
      path: '/api/checks/:target/run',
      access: 'changes',
      json: ({ path }) => checks.start(path.target ?? ''),
    },
    {
      method: 'POST',
      path: '/api/checks/:target/stop',
      access: 'changes',
      json: ({ path }) => checks.stop(path.target ?? ''),
    },
    { method: 'GET', path: '/api/log', access: 'reads', json: () => ({ rows: feeds.logs.list() }) },
    {
      method: 'GET',
      path: '/api/config',
      access: 'reads',
      json: (): ConfigAnswer => options.config?.read() ?? { text: '', issues: [] },
    },
    {
      method: 'POST',
      path: '/api/config/check',
      access: 'reads',
      json: ({ body }) => {
        const text = textMember(body, 'text')
        if (options.config !== undefined) return options.config.check(text)
        throw new ApiError(404, 'no_config', 'the router has no configuration file')
      },
    },
    { method: 'GET', path: '/api/connect', access: 'reads', json: () => connectAnswer(parts) },
    ...playRoutes(parts.playground),
  ]
}

function stateAnswer({ router, registry, feeds }: RouteParts): StateAnswer {
  return {
    hello: feeds.hello(),
    servers: feeds.servers(),
    changes: feeds.changes.list(),
    failures: feeds.failures(),
    figures: feeds.figures?.newest(300) ?? [],
    pins: pinRows(router),
    slowest: slowestTools(registry),
  }
}

function serverAnswer({ router, feeds, options }: RouteParts, name: string): ServerAnswer {
  const status = router.server(name)
  const server = feeds.servers().find(each => each.name === name)
  if (status === undefined || server === undefined) throw noServer(name)
  const entry = options.config?.entry(name)
  return {
    server,
    stderr: status.instances.map(({ key, stderr }) => ({
      instance: key,
      text: linesOf(stderr).map(redactText).join('\n'),
    })),
    changes: feeds.changes.list().filter(change => change.server === name),
    ...(entry !== undefined && { entry }),
  }
}

function linesOf(text: string): readonly string[] {
  return text.slice(-limits.consoleTextLength.default).split('\n')
}

function record(feeds: Feeds, body: unknown): { readonly leftMs: number } {
  const isOn = isRecord(body) ? body.isOn : undefined
  if (typeof isOn !== 'boolean') {
    throw new ApiError(400, 'bad_request', 'the member "isOn" must be true or false')
  }
  if (!feeds.hello().mayRecord) {
    throw new ApiError(403, 'no_recording', 'the configuration of the console forbids recording')
  }
  if (isOn) feeds.recorder.start()
  else feeds.recorder.stop()
  return { leftMs: feeds.recorder.leftMs }
}

function approve(router: Router, body: unknown): void {
  const [server, tool] = [textMember(body, 'server'), textMember(body, 'tool')]
  try {
    router.approve(server, tool, textMember(body, 'digest'))
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new ApiError(409, 'not_approved', errorMessage(error))
  }
}

function pointsIn({ figures }: Feeds, range: string) {
  switch (range) {
    case '5m':
      return figures?.newest(300) ?? []
    case '15m':
      return figures?.newest(limits.consoleFigureSeconds.default) ?? []
    case '24h':
      return figures?.minutes() ?? []
    default:
      throw new ApiError(400, 'bad_range', `there is no range "${range}"; use 5m, 15m or 24h`)
  }
}

function connectAnswer({ options, clients }: RouteParts): ConnectAnswer {
  const { addresses, hosts } = options.connect?.() ?? { addresses: [], hosts: [] }
  return { addresses, hosts, clients: clients.list() }
}

function noServer(name: string): ApiError {
  return new ApiError(404, 'not_found', `there is no server "${name}"`)
}
