import { cancelledIn } from '../../jsonrpc/cancellation.ts'
import type { RpcNotification } from '../../jsonrpc/message.ts'
import { canonicalNotification } from '../../mcp/names.ts'
import type { Params } from '../request.ts'
import { cancellation, type Session } from './session.ts'

/**
 * Takes note of a notification, in whichever spelling it comes. Those that mean nothing to a server,
 * such as changes of roots that it asks for each time, are let pass.
 */
export function heard(message: RpcNotification, params: Params, session: Session): void {
  switch (canonicalNotification(message.method)) {
    case 'notifications/initialized':
      if (session.caller !== undefined) session.isReady = true
      break
    case cancellation.method: {
      // The usual spelling does not come here: the peer knows it.
      const given = cancelledIn(cancellation, message)
      if (given !== undefined) session.peer.cancel(given.id, given.why)
      break
    }
    case 'notifications/tasks/status':
      session.hearTask(params.taskId)
      break
    default:
  }
}
