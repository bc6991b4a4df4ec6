/** An event of an event stream. */
export interface TextEvent {
  readonly id?: string
  readonly data: string
}

/** Reads the events of a whole event stream. */
export function parseEvents(text: string): TextEvent[] {
  return text.split('\n\n').flatMap(block => {
    const lines = block.split('\n')
    const data = lines
      .find(line => line.startsWith('data:'))
      ?.slice(5)
      .trim()
    const id = lines
      .find(line => line.startsWith('id:'))
      ?.slice(3)
      .trim()
    return data === undefined ? [] : [{ data, ...(id !== undefined && { id }) }]
  })
}

/** Reads events of a response one after the other; those without data too. */
export async function* events(response: Response): AsyncGenerator<TextEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const end = text.lastIndexOf('\n\n')
    if (end === -1) continue
    yield* parseEvents(text.slice(0, end + 2))
    text = text.slice(end + 2)
  }
}
