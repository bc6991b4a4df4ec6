import { RpcError } from '../../../jsonrpc/error.ts'
import { type ListKind, listKinds } from '../../../mcp/list-changes.ts'
import type { InvalidEntry } from '../../catalog/entry-check.ts'
import { type ListName, listNames, listRequests, listsByKind } from '../../catalog/list-names.ts'
import { type Lists, noLists, type ReadList } from '../../catalog/lists.ts'

/** A list that could not be read, and why. */
export interface ListProblem {
  /** The request that failed. */
  readonly method: string
  /** In one line, for the operator. */
  readonly reason: string
  /** In one line, for callers: without words of the server. */
  readonly summary: string
}

/** What reading lists has changed. */
export interface ListsChange {
  /** The kinds of lists that changed for callers. */
  readonly kinds: readonly ListKind[]
  /** Lists that cannot be read any more, or for another reason than before. */
  readonly failed: readonly ListProblem[]
  /** The requests whose lists can be read again. */
  readonly recovered: readonly string[]
}

/** The lists of one server, as its instances have listed them. `T` identifies an instance. */
export class ServerLists<T> {
  readonly #instances: () => readonly T[]
  readonly #lists = new Map<T, Lists>()
  readonly #problems = new Map<T, ReadonlyMap<string, ListProblem>>()
  /** The reasons that were reported, kept over reconnects, so that each is reported once. */
  readonly #reported = new Map<T, Map<string, string>>()
  readonly #invalid = new Map<ListKind, readonly InvalidEntry[]>()
  /** The lists of instances that were lost, which callers see until they are hidden. */
  #last: Lists = noLists
  #known: Lists = noLists
  #isRecalled = false

  /** `instances` returns the instances in their order. */
  constructor(instances: () => readonly T[]) {
    this.#instances = instances
  }

  /** The lists of the first instance whose lists were all read, or else what is known of each list. */
  get shown(): Lists {
    const read = this.#instances().flatMap(instance => this.#lists.get(instance) ?? [])
    return read.find(isWhole) ?? merged([...read, this.#last])
  }

  /** The lists of each connected instance. */
  get all(): ReadonlyMap<T, Lists> {
    return this.#lists
  }

  /** The lists when an instance was last connected, however long ago. */
  get known(): Lists {
    return this.#known
  }

  /** The entries that were listed and are left out, because they are invalid. */
  get invalid(): readonly InvalidEntry[] {
    return [...this.#invalid.values()].flat()
  }

  /** The lists that could not be read from connected instances. */
  get problems(): readonly ListProblem[] {
    const byMethod = new Map<string, ListProblem>()
    for (const problems of this.#problems.values()) {
      for (const [method, problem] of problems) byMethod.set(method, problem)
    }
    return [...byMethod.values()]
  }

  /** Shows lists of an earlier run until the server has listed its own. */
  recall(lists: Lists): void {
    this.#last = lists
    this.#known = lists
    this.#isRecalled = true
  }

  /** Whether the tools that callers see are those of an earlier run. */
  get isRecalled(): boolean {
    return this.#isRecalled
  }

  /** Takes over what was read from an instance, and what could not be read. */
  read(instance: T, kind: ListKind, { lists, failures, invalid }: ReadList): ListsChange {
    const before = this.shown
    if (lists.tools !== undefined) this.#isRecalled = false
    if (Object.keys(lists).length > 0) {
      const read = keptWhereSame(before, lists)
      this.#lists.set(instance, { ...(this.#lists.get(instance) ?? noLists), ...read })
      this.#known = this.shown
      this.#invalid.set(kind, invalid)
    }
    const problems = new Map(this.#problems.get(instance))
    for (const list of listsByKind[kind]) problems.delete(listRequests[list])
    for (const { method, error } of failures) problems.set(method, problemOf(method, error))
    this.#problems.set(instance, problems)
    return { kinds: changedKinds(before, this.shown), ...this.#report(instance, kind, problems) }
  }

  /** Must be called when an instance was lost. Returns the kinds that changed for callers; undefined if it had no lists. */
  lose(instance: T): readonly ListKind[] | undefined {
    const before = this.shown
    this.#problems.delete(instance)
    if (!this.#lists.delete(instance)) return undefined
    // Shown until another instance has read its own.
    this.#last = before
    return changedKinds(before, this.shown)
  }

  /** Removes the lists of instances that were lost. Returns the kinds that changed for callers. */
  hide(): readonly ListKind[] {
    const before = this.shown
    this.#isRecalled = false
    this.#last = noLists
    return changedKinds(before, this.shown)
  }

  #report(
    instance: T,
    kind: ListKind,
    problems: ReadonlyMap<string, ListProblem>,
  ): Pick<ListsChange, 'failed' | 'recovered'> {
    const reported = this.#reported.get(instance) ?? new Map<string, string>()
    this.#reported.set(instance, reported)
    const failed: ListProblem[] = []
    const recovered: string[] = []
    for (const list of listsByKind[kind]) {
      const method = listRequests[list]
      const problem = problems.get(method)
      if (problem === undefined) {
        if (reported.delete(method)) recovered.push(method)
      } else if (reported.get(method) !== problem.reason) {
        reported.set(method, problem.reason)
        failed.push(problem)
      }
    }
    return { failed, recovered }
  }
}

function problemOf(method: string, error: unknown): ListProblem {
  const reason = error instanceof Error ? error.message : String(error)
  const words = error instanceof RpcError ? `error ${error.code}` : 'no valid response'
  return { method, reason, summary: `${method} failed: ${words}` }
}

/** Returns whether all of the lists were read. */
function isWhole(lists: Lists): boolean {
  return listNames.every(list => lists[list] !== noLists[list])
}

/** Returns each list as the first of the given ones has it. */
function merged(all: readonly Lists[]): Lists {
  const first = <K extends keyof Lists>(member: K): Lists[K] =>
    (all.find(lists => lists[member] !== noLists[member]) ?? noLists)[member]
  return {
    tools: first('tools'),
    prompts: first('prompts'),
    resources: first('resources'),
    templates: first('templates'),
    skills: first('skills'),
  }
}

/** Returns lists in which those that say the same as before are the same objects as before, to save memory. */
function keptWhereSame(before: Lists, lists: Partial<Lists>): Partial<Lists> {
  const kept = listNames.filter(
    list =>
      before[list] !== noLists[list] &&
      JSON.stringify(before[list]) === JSON.stringify(lists[list]),
  )
  return { ...lists, ...Object.fromEntries(kept.map(list => [list, before[list]])) }
}

/** Returns the kinds whose lists differ. After a reconnect there is often no difference. */
function changedKinds(before: Lists, now: Lists): readonly ListKind[] {
  const isSame = (list: ListName): boolean =>
    before[list] === now[list] || JSON.stringify(before[list]) === JSON.stringify(now[list])
  return listKinds.filter(kind => !listsByKind[kind].every(isSame))
}
