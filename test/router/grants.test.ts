import { describe, expect, test } from 'vitest'
import type { RevisionName } from '../../src/index.ts'
import { connecting } from '../support/connecting.ts'

const revisions: readonly RevisionName[] = ['2025-11-25', '2026-07-28']

describe.each(revisions)('callers of %s', revision => {
  test.each([true, false])('grant access on a page, with a login: %s', async hasLogin => {
    await using here = await connecting({ hasLogin })
    const visited: string[] = []
    await using ada = await here.caller('ada', revision, async url => {
      visited.push(url)
      const page = await here.visit(url, 'ada')
      expect(page.status).toBe(200)
      expect(await page.text()).toContain('Connected')
      return 'accept'
    })
    const first = await ada.call('notes__list').catch(async error => {
      // In sessions the error names the page, and the client calls again.
      expect(error.code).toBe(-32042)
      const [{ url }] = error.data.elicitations
      visited.push(url)
      expect((await here.visit(url, 'ada')).status).toBe(200)
      return ada.call('notes__list')
    })
    expect(first.text).toBe('the notes of ada')
    expect(visited).toHaveLength(1)
    expect((await ada.call('notes__list')).text).toBe('the notes of ada')
    expect(here.errors).toEqual([])
  })
})

test.each(revisions)('in %s callers that cannot show a page get the words', async revision => {
  await using here = await connecting()
  await using ada = await here.caller('ada', revision)
  const { isError, text } = await ada.call('notes__list')
  expect(isError).toBe(true)
  expect(text).toMatch(/^Connect your account at "notes": .* http:\S+\/connect\/\S+$/)
  await expect(ada.prompt('notes__hello')).rejects.toMatchObject({
    kind: 'authorization_failed',
    message: expect.stringContaining('/connect/'),
  })
  expect(here.errors).toEqual([])
})

test('a user who declines is not asked again, and nothing reaches the server', async () => {
  await using here = await connecting()
  let count = 0
  await using ada = await here.caller('ada', '2026-07-28', async () => {
    count++
    return 'decline'
  })
  await expect(ada.call('notes__list')).rejects.toMatchObject({ kind: 'elicitation_failed' })
  expect(count).toBe(1)
  expect(await here.vault.list()).toEqual([])
})

test('a tool of no server leads to no page', async () => {
  await using here = await connecting()
  await using ada = await here.caller('ada', '2026-07-28')
  await expect(ada.call('other__tool')).rejects.toMatchObject({ kind: 'tool_not_found' })
})
