import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { play } from '../../src/testing/play.ts'
import { rewrite } from '../../src/testing/rewrite.ts'
import { provenBy, readTranscript, revisionsOf } from '../../src/testing/transcript.ts'
import { isRequirement } from '../requirements.ts'
import { files, read, root } from '../sources.ts'
import { fixtureFor } from './fixtures.ts'
import { type Wire, wires } from './wires.ts'

const folder = 'test/transcripts'
const all = files(folder).filter(path => path.endsWith('.txt'))
// Drafts wait for their server.
const drafts = all.filter(path => path.startsWith('drafts/'))
const played = all.filter(path => !path.startsWith('drafts/'))

describe.each(played)('%s', path => {
  const revisions = revisionsOf(transcriptAt(path))

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
    const open = () => wire.open(fixtureFor(transcript))
    await play(transcript, open, { names: names(revision) })
  })
})

test.each(drafts)('%s can be read', path => {
  expect(transcriptAt(path).prose).not.toBe('')
})

test.each(all)('%s cites requirements that exist', path => {
  expect(provenBy(transcriptAt(path)).filter(id => !isRequirement(id))).toEqual([])
})

function transcriptAt(path: string) {
  return readTranscript(read(`${folder}/${path}`))
}

function names(revision: string | undefined): Record<string, string> {
  return revision === undefined ? {} : { revision }
}
