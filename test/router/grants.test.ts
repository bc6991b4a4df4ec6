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
