import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import type { Playground } from '../play/playground.ts'
import { valueIssues } from '../play/send-run.ts'
import type { AnswerRequest, CompleteRequest, RunRequest } from '../wire-play.ts'
import { ApiError, type ConsoleRoute, textMember } from './api.ts'

/** The routes of the playground. A page names itself by the token that its stream has. */
export function playRoutes(playground: Playground): readonly ConsoleRoute[] {
  return [
    {
      method: 'POST',
      path: '/api/play/:page/lists',
      access: 'changes',
      json: ({ path }) => answered(() => playground.player(path.page ?? '').lists()),
    },
    {
      method: 'POST',
      path: '/api/play/:page/run',
      access: 'changes',
      json: ({ path, body }) => {
        const request = runRequest(body)
        return { run: playground.player(path.page ?? '').run(request) }
      },
    },
    {
      method: 'POST',
      path: '/api/play/:page/runs/:run/cancel',
      access: 'changes',
      json: ({ path }) => {
        if (playground.player(path.page ?? '').cancel(path.run ?? '')) return
        throw new ApiError(404, 'not_found', 'the call has ended already')
      },
    },
    {
      method: 'POST',
      path: '/api/play/:page/answers/:question',
      access: 'changes',
      json: ({ path, body }) => {
        const answer = answerRequest(body)
        if (playground.player(path.page ?? '').answer(path.question ?? '', answer)) return
        throw new ApiError(404, 'not_found', 'the server does not wait for this answer any more')
      },
    },
    {
      method: 'POST',
      path: '/api/play/:page/complete',
      access: 'changes',
      json: ({ path, body }) => {
        const request = completeRequest(body)
        return answered(() => playground.player(path.page ?? '').complete(request))
      },
    },
    {
      method: 'POST',
      path: '/api/validate',
      access: 'reads',
      json: ({ body }) => {
        if (isRecord(body) && isRecord(body.schema)) return valueIssues(body.schema, body.value)
        throw new ApiError(400, 'bad_request', 'the member "schema" must be an object')
      },
    },
  ]
}

/** Runs a request to the router; its error is that of the route. */
async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new ApiError(502, 'refused', errorMessage(error))
  }
}

function runRequest(body: unknown): RunRequest {
  const method = textMember(body, 'method')
  const { params = {}, variables, timeoutMs, revision } = isRecord(body) ? body : {}
  if (!isRecord(params)) throw bad('the member "params" must be an object')
  if (variables !== undefined && !isTextRecord(variables)) {
    throw bad('the member "variables" must be an object of strings')
  }
  const most = limits.consoleRunMaxMs.default
  if (
    timeoutMs !== undefined &&
    !(typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= most)
  ) {
    throw bad(`the member "timeoutMs" must be a number from 1 to ${most}`)
  }
  if (revision !== undefined && typeof revision !== 'string') {
    throw bad('the member "revision" must be a string')
  }
  return {
    method,
    params,
    ...(variables && { variables }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(revision !== undefined && { revision }),
  }
}

function answerRequest(body: unknown): AnswerRequest {
  const action = textMember(body, 'action')
  const content = isRecord(body) ? body.content : undefined
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel') {
    throw bad(`the member "action" must be accept, decline or cancel, not "${action}"`)
  }
  if (content !== undefined && !isRecord(content) && typeof content !== 'string') {
    throw bad('the member "content" must be the object of a form, or a text')
  }
  return { action, content }
}

function completeRequest(body: unknown): CompleteRequest {
  const { prompt, template, context = {} } = isRecord(body) ? body : {}
  if (typeof prompt !== 'string' && typeof template !== 'string') {
    throw bad('the member "prompt" or "template" must be a string')
  }
  if (!isTextRecord(context)) throw bad('the member "context" must be an object of strings')
  return {
    ...(typeof prompt === 'string' && { prompt }),
    ...(typeof template === 'string' && { template }),
    argument: textMember(body, 'argument'),
    value: textMember(body, 'value'),
    context,
  }
}

function isTextRecord(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every(each => typeof each === 'string')
}

function bad(message: string): ApiError {
  return new ApiError(400, 'bad_request', message)
}
