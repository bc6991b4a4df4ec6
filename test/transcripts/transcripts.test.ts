import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { play } from '../../src/testing/play.ts'
import { rewrite } from '../../src/testing/rewrite.ts'
import { provenBy, readTranscript, transcriptRevisions } from '../../src/testing/transcript.ts'
import { isRequirement } from '../requirements.ts'
import { files, read, root } from '../sources.ts'
import { fixtureFor } from './fixtures.ts'
import { type Watched, watch } from './watch.ts'
import { type Wire, wires } from './wires.ts'

const folder = 'test/transcripts'
const all = files(folder).filter(path => path.endsWith('.txt'))

afterAll(async () => {
  await Promise.all(wires.map(wire => wire.close()))
})

describe.each(all)('%s', path => {
  const revisions = transcriptRevisions(transcriptAt(path))

  if (process.env.UPDATE === '1') {
    beforeAll(async () => {
      const transcript = transcriptAt(path)
      const open = () => wires[0].open(fixtureFor(transcript))
      const text = await rewrite(transcript, open, { names: names(revisions[0]) })
      writeFileSync(join(root, folder, path), text)
    })
  }

  const rows = wires.flatMap((wire): [string, Wire, string | undefined][] =>
    revisions.length === 0
      ? [[wire.name, wire, undefined]]
      : revisions.map(revision => [`${wire.name} in ${revision}`, wire, revision]),
  )
  test.each(rows)('over %s', async (_, wire, revision) => {
    const transcript = transcriptAt(path)
    const fixture = fixtureFor(transcript)
    let watched: Watched | undefined
    const open = async () => {
      watched = watch(await wire.open(fixture))
      return watched
    }
    await play(transcript, open, { names: names(revision) })
    if (fixture.isChecked) expect([...(watched?.problems ?? [])]).toEqual([])
  })
})

test.each(all)('%s has a description, and cites requirements that exist', path => {
  const transcript = transcriptAt(path)
  expect(transcript.prose).not.toBe('')
  expect(provenBy(transcript).filter(id => !isRequirement(id))).toEqual([])
})

function transcriptAt(path: string) {
  return readTranscript(read(`${folder}/${path}`))
}

function names(revision: string | undefined): Record<string, string> {
  return revision === undefined ? {} : { revision }
}
