import { SseReader } from '../../src/wire/sse.ts'

/** No event of a test is longer. */
const maxBytes = 1_000_000

/** Reads the data of each event of a response, one after the other. Events without data are left out. */
export async function* eventData(response: Response): AsyncGenerator<string> {
  const read: string[] = []
  let isTooLong = false
  const reader = new SseReader(
    {
      event: ({ data }) => {
        if (data !== '') read.push(data)
      },
      oversize: () => {
        isTooLong = true
      },
    },
    maxBytes,
  )
  for await (const chunk of response.body ?? []) {
    reader.push(chunk)
    yield* read.splice(0)
    if (isTooLong) throw new Error(`an event is longer than ${maxBytes} bytes`)
  }
}
