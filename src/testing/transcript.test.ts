import { describe, expect, test } from 'vitest'
import { printShape } from './shape.ts'
import {
  metaOf,
  provenBy,
  readTranscript,
  TranscriptError,
  transcriptRevisions,
} from './transcript.ts'

const sample = `A tool requests input.
note: this is prose, although it looks like a setting.

serve: everything
revision: one, two
meta: {"version":"$revision"}
proves: B2 M1

# Asking.
> {"id":1,"method":"ask"}
< {"id":1,
   "result":{…}}
<~ {"method":"a"}
<~ {"method":"b"}

>! {"id":2,
`

describe('the file of a conversation', () => {
  const transcript = readTranscript(sample)

  test('begins with prose', () => {
    expect(transcript.prose).toBe(
      'A tool requests input.\nnote: this is prose, although it looks like a setting.',
    )
  })

  test('continues with settings', () => {
    expect(transcript.settings.get('serve')).toBe('everything')
    expect(transcriptRevisions(transcript)).toEqual(['one', 'two'])
    expect(provenBy(transcript)).toEqual(['B2', 'M1'])
    expect(printShape(metaOf(transcript) ?? { kind: 'anything' })).toBe('{"version":"$revision"}')
  })

  test('ends with the steps, each with its place', () => {
    const steps = transcript.steps.map(step => {
      const text = step.kind === 'say-exactly' ? step.text : printShape(step.shape)
      const order = step.kind === 'expect' && step.isUnordered ? ' in any order' : ''
      return `${step.line}+${step.height} ${step.kind}${order} ${text}`
    })
    expect(steps).toEqual([
      '10+1 say {"id":1,"method":"ask"}',
      '11+2 expect {"id":1,"result":{…}}',
      '13+1 expect in any order {"method":"a"}',
      '14+1 expect in any order {"method":"b"}',
      '16+1 say-exactly {"id":2,',
    ])
  })

  test('needs no settings', () => {
    const { settings, steps } = readTranscript('Prose.\n\n> {"method":"a"}\n')
    expect([settings.size, steps.length]).toEqual([0, 1])
    expect(transcriptRevisions(readTranscript('> 1'))).toEqual([])
    expect(metaOf(readTranscript('> 1'))).toBeUndefined()
  })
})

describe('a file that is refused', () => {
  const cases = [
    ['nothing but prose', 'Prose.\n', 'the file has no conversation'],
    ['settings alone', 'serve: a\n', 'the file has no conversation'],
    ['an unknown setting', 'serve: a\nsevre: b\n> 1', 'line 2: unknown setting "sevre"'],
    ['a setting twice', 'serve: a\nserve: b\n> 1', 'line 2: duplicate setting "serve"'],
    [
      'a setting too late',
      '> 1\nprofile: b',
      'line 2: settings must come before the first message',
    ],
    ['a line of another kind', '> 1\nprose', 'line 2: a line must start with >, >!, < or <~'],
    ['what is not JSON', 'a\n> {', 'line 2: a string expected at column 4, found the end'],
  ] as const

  test.each(cases)('%s', (_, text, message) => {
    expect(() => readTranscript(text)).toThrow(TranscriptError)
    expect(() => readTranscript(text)).toThrow(message)
  })

  test('a meta that is not an object', () => {
    const transcript = readTranscript('serve: a\nmeta: 1\n> 1')
    expect(() => metaOf(transcript)).toThrow('line 2: meta must be an object')
  })
})
