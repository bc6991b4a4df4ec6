import type { PersonalLists } from '../../mcp/endpoint.ts'
import type { ListKind } from '../../mcp/list-changes.ts'
import type { ChangeNotice, Subscriber, Subscriptions } from './subscriptions.ts'

/** Returns the lists that differ between callers, with their changes as subscribers get them. */
export function personalLists(
  subscriptions: Subscriptions,
  has: PersonalLists['has'],
): PersonalLists {
  return {
    has,
    onChange: listener => {
      const subscriber: Subscriber = {
        accepts: change => isListChange(change) && has(change.type),
        deliver: change => {
          if (isListChange(change)) listener(change.type, change.principal)
        },
      }
      subscriptions.add(subscriber)
      return () => subscriptions.remove(subscriber)
    },
  }
}

function isListChange(
  change: ChangeNotice,
): change is Extract<ChangeNotice, { readonly type: ListKind }> {
  return change.type !== 'resource' && change.type !== 'task'
}
