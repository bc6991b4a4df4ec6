import { skillsSettings } from '../../mcp/extension.ts'
import { noDirectory, noSkill } from '../../server/features/skills/skills.ts'
import { type HandlerResult, type IncomingRequest, stringParam } from '../../server/request.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Route } from '../dispatch/route.ts'
import { whenListed } from './starting.ts'
import { searchUnlisted } from './unlisted.ts'

/** What forwarding the requests for skills needs from the features of a router. */
export interface ForwardedSkillsHost {
  catalog(): Catalog
  routes(): readonly Route[]
  /** Forwards to a server. `notFound` is the error for a skill that the caller does not see. */
  forward(route: Route, notFound: Error): HandlerResult
}

/** The settings of the skills extension that a router declares: folders can be read where a server can. */
export function routedSettings(routes: readonly Route[]): { readonly directoryRead?: boolean } {
  return routes.some(route => settingsOf(route)?.directoryRead === true)
    ? { directoryRead: true }
    : {}
}

/**
 * Forwards `skills/get` or `resources/directory/read` to the server whose skill it is about, or else to
 * those that may have it unlisted.
 */
export function forwardSkillRequest(
  { method, params, exchange }: IncomingRequest,
  host: ForwardedSkillsHost,
): HandlerResult {
  const uri = stringParam(params, 'uri')
  const isDirectory = method === 'resources/directory/read'
  const mayAnswer = (route: Route): boolean => {
    const settings = settingsOf(route)
    return isDirectory ? settings?.directoryRead === true : settings !== undefined
  }
  const answer = (): HandlerResult => {
    const owner = host.catalog().skillAt(uri)?.route
    const notFound = isDirectory ? noDirectory(uri) : noSkill(uri)
    if (owner !== undefined && mayAnswer(owner)) return host.forward(owner, notFound)
    return searchUnlisted({
      among: owner === undefined ? host.routes().filter(mayAnswer) : [],
      routes: host.routes(),
      notFound,
      forward: route => host.forward(route, notFound),
    })
  }
  const listed = whenListed(host.routes(), 'resources', () => exchange.signal)
  return listed === undefined ? answer() : listed.then(answer)
}

function settingsOf({ upstream }: Route): ReturnType<typeof skillsSettings> {
  const { server } = upstream
  return server && skillsSettings(server.capabilities)
}
