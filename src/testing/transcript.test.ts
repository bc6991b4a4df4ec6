import { describe, expect, test } from 'vitest'
import { printShape } from './shape.ts'
import { metaOf, provenBy, readTranscript, revisionsOf, TranscriptError } from './transcript.ts'

const sample = `A tool asks a question.
note: this is prose, whatever it looks like.

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
      'A tool asks a question.\nnote: this is prose, whatever it looks like.',
    )
  })

  test('goes on with settings', () => {
    expect(transcript.settings.get('serve')).toBe('everything')
    expect(revisionsOf(transcript)).toEqual(['one', 'two'])
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
    expect(revisionsOf(readTranscript('> 1'))).toEqual([])
    expect(metaOf(readTranscript('> 1'))).toBeUndefined()
  })
})

describe('a file that is refused', () => {
  const cases = [
    ['nothing but prose', 'Prose.\n', 'there is no conversation in it'],
    ['settings alone', 'serve: a\n', 'there is no conversation in it'],
    ['a setting nobody knows', 'serve: a\nsevre: b\n> 1', 'line 2: there is no setting "sevre"'],
    ['a setting twice', 'serve: a\nserve: b\n> 1', 'line 2: "serve" is set already'],
    ['a setting too late', '> 1\nprofile: b', 'line 2: settings come before the first line'],
    ['a line of another kind', '> 1\nprose', 'line 2: a line begins with >, >!, < or <~'],
    ['what is no JSON', 'a\n> {', 'line 2: a string expected at column 4, not the end'],
  ] as const

  test.each(cases)('%s', (_, text, message) => {
    expect(() => readTranscript(text)).toThrow(TranscriptError)
    expect(() => readTranscript(text)).toThrow(message)
  })

  test('a meta that is no object', () => {
    const transcript = readTranscript('serve: a\nmeta: 1\n> 1')
    expect(() => metaOf(transcript)).toThrow('line 2: meta is an object')
  })
})
