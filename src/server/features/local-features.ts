import type { ListKind } from '../../mcp/list-changes.ts'
import type { Scope } from '../core/request-scope.ts'
import type { HandlerResult, IncomingRequest } from '../request.ts'
import { complete } from './completion.ts'
import type { AvailableFeatures, FeatureProvider, ProviderHost } from './feature-provider.ts'
import { Prompts } from './prompts.ts'
import { Resources } from './resources/resources.ts'
import { Skills } from './skills/skills.ts'
import { Tools } from './tools/tools.ts'

/** The tools, resources, prompts and skills that are registered at a server. */
export class LocalFeatures implements FeatureProvider {
  readonly tools: Tools
  readonly resources: Resources
  readonly prompts: Prompts
  readonly skills: Skills
  readonly methods: ReadonlyMap<string, (request: IncomingRequest) => HandlerResult>
  readonly available: AvailableFeatures
  readonly isVisible: NonNullable<FeatureProvider['isVisible']>

  constructor(host: ProviderHost) {
    const { subscriptions } = host
    const tools = new Tools(host, () => subscriptions.publish({ type: 'tools' }))
    const resources = new Resources(host, () => subscriptions.publish({ type: 'resources' }))
    const prompts = new Prompts(host, () => subscriptions.publish({ type: 'prompts' }))
    const skills = new Skills(host, resources)
    this.tools = tools
    this.resources = resources
    this.prompts = prompts
    this.skills = skills
    this.methods = new Map<string, (request: IncomingRequest) => HandlerResult>([
      ['tools/list', request => tools.list(request)],
      ['tools/call', request => tools.call(request)],
      ['resources/list', request => resources.list(request)],
      ['resources/templates/list', request => resources.listTemplates(request)],
      ['resources/read', request => resources.read(request)],
      ['resources/subscribe', request => resources.subscribe(request)],
      ['resources/unsubscribe', request => resources.unsubscribe(request)],
      ['prompts/list', request => prompts.list(request)],
      ['prompts/get', request => prompts.get(request)],
      ['skills/list', request => skills.list(request)],
      ['skills/get', request => skills.get(request)],
      ['resources/directory/read', request => skills.readDirectory(request)],
      ['completion/complete', request => complete(request, prompts, resources)],
    ])
    this.isVisible = (uri, request) => resources.isVisible(uri, request)
    this.available = {
      get tools() {
        return tools.isUsed
      },
      get resources() {
        return resources.isUsed
      },
      get prompts() {
        return prompts.isUsed
      },
      get completions() {
        return prompts.hasCompleters || resources.hasCompleters
      },
      get tasks() {
        return tools.usesTasks
      },
      get skills() {
        return skills.isUsed ? { directoryRead: true } : undefined
      },
    }
  }

  /** Whether callers may see different entries in the lists of this kind. */
  isPersonal(kind: ListKind): boolean {
    return this[kind].isPersonal
  }

  /**
   * Shows the features of a mounted server among these: names of tools and prompts begin with `prefix`, and
   * URIs stay. Returns a function that removes them. Throws a TypeError, and changes nothing, for a name or
   * URI that is taken.
   */
  mount(other: LocalFeatures, scope: Scope, prefix: string): () => void {
    this.tools.checkMount(other.tools, prefix)
    this.prompts.checkMount(other.prompts, prefix)
    // The files of skills are resources.
    this.resources.checkMount(other.resources)
    const ends = [
      this.tools.mount(other.tools, scope, prefix),
      this.prompts.mount(other.prompts, scope, prefix),
      this.resources.mount(other.resources, scope),
      this.skills.mount(other.skills, scope),
    ]
    return () => {
      for (const end of ends) end()
    }
  }
}
