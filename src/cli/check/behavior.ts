import type { Id } from '../../jsonrpc/message.ts'
import { type CheckContext, type EraState, members } from './context.ts'
import { type Finding, fail, habit, notApplicable, ok, warn } from './finding.ts'
import { type CheckReply, replyText } from './session.ts'
import type { WireEvent } from './wire/wire.ts'

/** Step `errors`: checks that invalid requests are rejected with the expected error codes. */
export function checkErrors(context: CheckContext): Promise<readonly Finding[]> {
  return context.inEachEra(async state => {
    const { session, capabilities } = state
    const findings = [
      expectCode('an unknown method', await session.request('trunkline/no-such-method'), -32601),
    ]
    if (capabilities.tools === undefined) return findings
    const unknown = await session.request('tools/call', {
      name: 'trunkline-check-no-such-tool',
      arguments: {},
    })
    findings.push(unknownTool(unknown))
    const nameless = await session.request('tools/call', {})
    const finding = expectCode('tools/call without a name', nameless, -32602)
    const isInternal = nameless.type === 'error' && nameless.code === -32603
    findings.push(isInternal ? { ...finding, habit: true } : finding)
    return findings
  })
}

function unknownTool(reply: CheckReply): Finding {
  if (isToolError(reply)) {
    return habit(
      'calling an unknown tool returns a result with isError',
      'Reject a tool that does not exist with error -32602: isError is for tools that ran and failed.',
    )
  }
  const finding = expectCode('an unknown tool', reply, -32602)
  // The protocol requires an error, and has this code in an example only.
  return reply.type === 'error' ? { ...finding, status: 'ok' } : finding
}

function isToolError(reply: CheckReply): boolean {
  return reply.type === 'result' && members(reply.result).isError === true
}

/** Returns ok for the expected error, a warning for another error or a tool error, and a failure otherwise. */
function expectCode(what: string, reply: CheckReply, code: number): Finding {
  const message = `${what}: got ${replyText(reply)}`
  const advice = `Reject ${what} with error ${code}.`
  if (reply.type === 'error' && reply.code === code) return ok(message)
  return reply.type === 'error' || isToolError(reply)
    ? warn(message, advice)
    : fail(message, advice)
}

/** Step `malformed`: checks that invalid input is rejected with an error and does not stop the server. */
export function checkMalformed(context: CheckContext): Promise<readonly Finding[]> {
  return context.inEachEra(async ({ session }) => {
    const findings: Finding[] = []
    const cases = [
      ['broken JSON', '{"jsonrpc":"2.0","id":1,"method":', -32700],
      ['JSON that is not a JSON-RPC message', '{"id":"check-odd","method":5}', -32600],
    ] as const
    for (const [what, text, code] of cases) {
      const isReply = (arrival: WireEvent): boolean =>
        arrival.type === 'http' || 'error' in arrival.message
      const early = await session.sendRaw(text, { isReply, timeoutMs: context.noReplyMs })
      const after = early.type === 'closed' ? early : await session.checkAlive()
      // A busy server answers late, but in order: its answer is there once the next request is answered.
      const reply = early.type === 'timeout' ? ((await session.late(isReply)) ?? early) : early
      findings.push(malformedFinding(what, reply, code))
      if (after.type === 'result' || after.type === 'error') continue
      findings.push(
        fail(
          `after ${what} the server stops responding: got ${replyText(after)}`,
          `Reject ${what} with error ${code} and keep serving: one bad line must not end a connection.`,
        ),
      )
      return findings
    }
    return findings
  })
}

function malformedFinding(what: string, reply: CheckReply, code: number): Finding {
  const message = `${what}: got ${replyText(reply)}`
  const advice = `Reject ${what} with error ${code}, so that the sender can see the mistake.`
  if (reply.type === 'error' && reply.code === code) return ok(message)
  // Over HTTP the status alone is a rejection; the body is optional.
  if (reply.type === 'http' && reply.status >= 400 && reply.status < 500) return ok(message)
  if (reply.type === 'result') return fail(message, advice)
  const isHabit = reply.type === 'timeout' || (reply.type === 'error' && reply.code === -32700)
  return isHabit ? habit(message, advice) : warn(message, advice)
}

/** Step `ids`: checks that a response carries the id of its request, for unusual ids too. */
export function checkIds(context: CheckContext): Promise<readonly Finding[]> {
  return context.inEachEra(async ({ session }) => {
    const findings: Finding[] = []
    const method = session.era === 'session' ? 'ping' : 'server/discover'
    const tried: readonly Id[] = [0, '', 'a-b c', 2 ** 53 - 1]
    for (const id of tried) {
      const reply = await session.request(method, {}, { id })
      const isAnswered = reply.type === 'result' || reply.type === 'error'
      if (isAnswered) continue
      findings.push(
        fail(
          `a request with the id ${JSON.stringify(id)}: got ${replyText(reply)}`,
          'Every string and every integer is a valid id, including 0 and "": never test an id for truthiness, and return it unchanged.',
        ),
      )
      // Each missing response costs a full timeout: one is enough.
      return findings
    }
    return [
      ok(
        `requests with the ids ${tried.map(id => JSON.stringify(id)).join(', ')} get matching responses`,
      ),
    ]
  })
}

/** Step `cancellation`: checks that notifications get no response and cancelled requests get none either. */
export function checkCancellation(context: CheckContext): Promise<readonly Finding[]> {
  return context.inEachEra(async state => {
    const { session } = state
    const findings: Finding[] = []
    const { incoming } = session.wire
    incoming.clear()
    await session.notify('notifications/cancelled', {
      requestId: 'check-never-sent',
      reason: 'a check',
    })
    await session.notify('notifications/trunkline-check')
    const answer = await incoming.take(
      arrival => arrival.type === 'message' && !('method' in arrival.message),
      context.noReplyMs,
    )
    if (answer.type === 'message') {
      findings.push(
        fail(
          'the server responds to a notification',
          'Never respond to a message without an id, even if its method is unknown.',
        ),
      )
    } else if (answer.type === 'closed') {
      findings.push(
        fail(
          `a notification stops the server: ${answer.reason}`,
          'Ignore notifications with an unknown method.',
        ),
      )
      return findings
    } else findings.push(ok('notifications get no response'))
    if (session.era === 'stateless' && context.endpoint === undefined)
      findings.push(await cancelled(context, state))
    return findings
  })
}

/** Cancels `subscriptions/listen`: it only waits, so cancelling it has no side effects. */
async function cancelled(context: CheckContext, { session }: EraState): Promise<Finding> {
  const { incoming } = session.wire
  const id = 'check-listen'
  const isAbout = (arrival: WireEvent): boolean =>
    arrival.type === 'message' && (arrival.message.id === id || 'method' in arrival.message)
  const reply = await session.request(
    'subscriptions/listen',
    { notifications: { toolsListChanged: true } },
    { id, timeoutMs: context.noReplyMs },
  )
  if (reply.type !== 'timeout')
    return notApplicable(`subscriptions/listen: got ${replyText(reply)}`)
  incoming.clear()
  await session.notify('notifications/cancelled', { requestId: id })
  const after = await incoming.take(isAbout, context.noReplyMs)
  if (after.type !== 'message' || after.message.id !== id)
    return ok('a cancelled request gets no response')
  return warn(
    'a cancelled request still gets a response',
    'Send nothing more for a request after it has been cancelled.',
  )
}

/** Step `ping`: checks that the server responds to `ping`. */
export function checkPing(context: CheckContext): Promise<readonly Finding[]> {
  return context.inEachEra(async ({ session }) => {
    if (session.era === 'stateless') return [notApplicable('stateless revisions have no ping')]
    const reply = await session.request('ping')
    if (reply.type === 'result') return [ok('the server responds to ping')]
    return [
      fail(
        `ping: got ${replyText(reply)}`,
        'Answer "ping" with an empty result: clients treat a missing response as a dead server.',
      ),
    ]
  })
}
