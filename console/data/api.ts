import { signal } from '@preact/signals'

const storedKey = 'trunkline key'

/** The key of the console; empty if the page has none. */
export const key = signal(sessionStorage.getItem(storedKey) ?? '')

/** Takes the key from the address, where the link has it, and removes it there. */
export function takeKey(): void {
  const [, found] = /[#&]key=([\w-]+)/.exec(location.hash) ?? []
  if (found === undefined) return
  useKey(found)
  history.replaceState(null, '', '#/')
}

/** Uses another key from now on. */
export function useKey(text: string): void {
  sessionStorage.setItem(storedKey, text)
  key.value = text
}

/** An error that the console answered with. */
export class RequestError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Sends a request to the console; with a body it is a POST. Rejects with a RequestError if it is refused. */
export async function send(path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { authorization: `Bearer ${key.value}` }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const response = await fetch(`api/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  if (response.ok) return response
  const answer: unknown = await response.json().catch(() => undefined)
  throw new RequestError(response.status, messageIn(answer) ?? `HTTP ${response.status}`)
}

/** Sends a request and returns the JSON of the answer, whose type belongs to the path. */
export async function ask<T>(path: string, body?: unknown): Promise<T> {
  const response = await send(path, body)
  // The check: page and server are of one build, which the types of the wire describe.
  return (await response.json()) as T
}

function messageIn(answer: unknown): string | undefined {
  // The check: every member may be missing.
  const { error } = (answer ?? {}) as { error?: { message?: unknown } }
  return typeof error?.message === 'string' ? error.message : undefined
}
