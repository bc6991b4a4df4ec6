import { senderMeta } from '../../client/connection/request-meta.ts'
import type { Caller } from '../../mcp/caller.ts'
import { tasksExtension } from '../../mcp/extension.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { ClientCapabilities, Implementation } from '../../mcp/types/base.ts'
import type { LogLevel } from '../../mcp/types/logging.ts'
import { limits } from '../../util/limits/limits.ts'
import { capabilitiesFor } from '../connection/capabilities.ts'

interface CachedSender {
  readonly revision: Revision
  readonly logLevel: LogLevel | undefined
  readonly takesTask: boolean
  readonly sender: object
}

/**
 * The members of `_meta` that describe the caller to a stateless server, and whether it may run the call as
 * a task. Cached by what callers declare, of which there are few kinds: encoding it for each call would
 * cost more than the rest of the call.
 */
export class SenderMetaCache {
  readonly #info: Implementation
  readonly #senders = new Map<string, object>()
  /** The latest one of each caller, because a caller is likely to call again. */
  readonly #latest = new WeakMap<Caller, CachedSender>()

  /** `info` is the client name and version that the router sends to upstream servers. */
  constructor(info: Implementation) {
    this.#info = info
  }

  for(
    caller: Caller,
    logLevel: LogLevel | undefined,
    revision: Revision,
    takesTask: boolean,
  ): object {
    const latest = this.#latest.get(caller)
    const isLatest =
      latest?.revision === revision &&
      latest.logLevel === logLevel &&
      latest.takesTask === takesTask
    if (isLatest) return latest.sender
    const sender = this.#find(caller, logLevel, revision, takesTask)
    this.#latest.set(caller, { revision, logLevel, takesTask, sender })
    return sender
  }

  #find(
    caller: Caller,
    logLevel: LogLevel | undefined,
    revision: Revision,
    takesTask: boolean,
  ): object {
    const key = `${revision.name} ${logLevel} ${takesTask} ${jsonOf(caller.capabilities)}`
    let sender = this.#senders.get(key)
    if (sender === undefined) {
      const declared = capabilitiesFor(caller, revision)
      const capabilities = takesTask ? withTasks(declared) : declared
      sender = senderMeta({ revision, capabilities, info: this.#info, logLevel })
      // More kinds than the limit are made up by a caller.
      if (this.#senders.size >= limits.callerProfiles.default) this.#senders.clear()
      this.#senders.set(key, sender)
    }
    return sender
  }
}

const jsonTexts = new WeakMap<ClientCapabilities, string>()

/** The capabilities of a caller as JSON, encoded once per object. */
function jsonOf(capabilities: ClientCapabilities): string {
  let text = jsonTexts.get(capabilities)
  if (text === undefined) {
    text = JSON.stringify(capabilities)
    jsonTexts.set(capabilities, text)
  }
  return text
}

function withTasks(declared: ClientCapabilities): ClientCapabilities {
  return { ...declared, extensions: { ...declared.extensions, [tasksExtension]: {} } }
}
