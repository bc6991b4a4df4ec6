import type { Id } from '../../jsonrpc/message.ts'
import { type Known, members, type Probe } from './context.ts'
import { type Finding, fail, none, ok, warn } from './finding.ts'
import { type Reply, replyText } from './session.ts'
import type { Arrival } from './wire.ts'

/** Whether mistakes of the other side are answered as mistakes. */
export function errors(probe: Probe): Promise<readonly Finding[]> {
  return probe.inEach(async known => {
    const { talk, capabilities } = known
    const findings = [
      expectCode('an unknown method', await talk.ask('trunkline/no-such-method'), [-32601]),
    ]
    if (capabilities.tools === undefined) return findings
    const unknown = await talk.ask('tools/call', {
      name: 'trunkline-check-no-such-tool',
      arguments: {},
    })
    const isToolError = unknown.type === 'result' && members(unknown.result).isError === true
    findings.push(
      isToolError
        ? warn(
            'an unknown tool gives a result with isError',
            'Answer a tool that does not exist with the error -32602: it is no failure of a tool.',
          )
        : expectCode('an unknown tool', unknown, [-32602]),
    )
    findings.push(
      expectCode('tools/call without a name', await talk.ask('tools/call', {}), [-32602]),
    )
    return findings
  })
}

/** An error with one of the codes is right, with another one odd; anything else is wrong. */
function expectCode(what: string, reply: Reply, codes: readonly number[]): Finding {
  const saw = `${what} gives ${replyText(reply)}`
  const advice = `Answer ${what} with the error ${codes.join(' or ')}.`
  if (reply.type !== 'error') return fail(saw, advice)
  return codes.some(code => code === reply.code) ? ok(saw) : warn(saw, advice)
}

/** Whether text that is no message leaves the server alive, and is answered. */
export function malformed(probe: Probe): Promise<readonly Finding[]> {
  return probe.inEach(async ({ talk }) => {
    const findings: Finding[] = []
    const cases = [
      ['broken JSON', '{"jsonrpc":"2.0","id":1,"method":', -32700],
      ['JSON that is no message', '{"id":"check-odd","method":5}', -32600],
    ] as const
    for (const [what, text, code] of cases) {
      const isReply = (arrival: Arrival): boolean =>
        arrival.type === 'refused' || 'error' in arrival.message
      const reply = await talk.say(text, { isReply, timeoutMs: probe.silenceMs })
      findings.push(malformedFinding(what, reply, code))
      const after = reply.type === 'gone' ? reply : await talk.alive()
      if (after.type === 'result' || after.type === 'error') continue
      findings.push(
        fail(
          `after ${what} the server answers nothing more: ${replyText(after)}`,
          `Answer ${what} with the error ${code}, and go on: one bad line must not end a connection.`,
        ),
      )
      return findings
    }
    return findings
  })
}

function malformedFinding(what: string, reply: Reply, code: number): Finding {
  const saw = `${what} gives ${replyText(reply)}`
  const advice = `Answer ${what} with the error ${code}, so that whoever sent it learns of it.`
  if (reply.type === 'error' && reply.code === code) return ok(saw)
  return reply.type === 'result' ? fail(saw, advice) : warn(saw, advice)
}

/** Whether replies come back under the ids of their requests, whatever these are. */
export function ids(probe: Probe): Promise<readonly Finding[]> {
  return probe.inEach(async ({ talk }) => {
    const findings: Finding[] = []
    const method = talk.era === 'session' ? 'ping' : 'server/discover'
    const tried: readonly Id[] = [0, '', 'a-b c', 2 ** 53 - 1]
    for (const id of tried) {
      const reply = await talk.ask(method, {}, { id })
      const isAnswered = reply.type === 'result' || reply.type === 'error'
      if (isAnswered) continue
      findings.push(
        fail(
          `a request with the id ${JSON.stringify(id)} gives ${replyText(reply)}`,
          'Any string and any integer is an id, 0 and "" included: never test one for truth, and send it back as it came.',
        ),
      )
      // Each silence takes as long as patience lasts: one is enough.
      return findings
    }
    return [
      ok(
        `requests with the ids ${tried.map(id => JSON.stringify(id)).join(', ')} are answered under them`,
      ),
    ]
  })
}

/** Whether what wants no answer gets none, and what is given up is given up. */
export function cancellation(probe: Probe): Promise<readonly Finding[]> {
  return probe.inEach(async known => {
    const { talk } = known
    const findings: Finding[] = []
    const { inbox } = talk.wire
    inbox.clear()
    await talk.tell('notifications/cancelled', { requestId: 'check-never-sent', reason: 'a check' })
    await talk.tell('notifications/trunkline-check')
    const answer = await inbox.take(
      arrival => arrival.type === 'message' && !('method' in arrival.message),
      probe.silenceMs,
    )
    if (answer.type === 'message') {
      findings.push(
        fail('a notification is answered', 'Never answer what has no id, known or not.'),
      )
    } else if (answer.type === 'gone') {
      findings.push(
        fail(
          `a notification ends the server: ${answer.why}`,
          'Pass over notifications that mean nothing.',
        ),
      )
      return findings
    } else findings.push(ok('notifications get no answer'))
    if (talk.era === 'stateless' && probe.where.kind !== 'http')
      findings.push(await cancelled(probe, known))
    return findings
  })
}

/** The one request that waits without doing anything can be given up without harm. */
async function cancelled(probe: Probe, { talk }: Known): Promise<Finding> {
  const { inbox } = talk.wire
  const id = 'check-listen'
  const isAbout = (arrival: Arrival): boolean =>
    arrival.type === 'message' && (arrival.message.id === id || 'method' in arrival.message)
  const begun = talk.ask(
    'subscriptions/listen',
    { notifications: { toolsListChanged: true } },
    { id, timeoutMs: probe.silenceMs },
  )
  const reply = await begun
  if (reply.type !== 'silence') return none(`subscriptions/listen gives ${replyText(reply)}`)
  inbox.clear()
  await talk.tell('notifications/cancelled', { requestId: id })
  const after = await inbox.take(arrival => isAbout(arrival), probe.silenceMs)
  if (after.type !== 'message' || after.message.id !== id)
    return ok('a request that was cancelled is not answered')
  return warn(
    'a request that was cancelled is answered all the same',
    'Send nothing more for a request once it has been cancelled.',
  )
}

/** Whether the server gives signs of life. */
export function ping(probe: Probe): Promise<readonly Finding[]> {
  return probe.inEach(async ({ talk }) => {
    if (talk.era === 'stateless') return [none('stateless revisions have no ping')]
    const reply = await talk.ask('ping')
    if (reply.type === 'result') return [ok('ping is answered')]
    return [
      fail(
        `ping gives ${replyText(reply)}`,
        'Answer "ping" with an empty result: clients take silence for death.',
      ),
    ]
  })
}
