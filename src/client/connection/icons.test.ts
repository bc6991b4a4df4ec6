import { describe, expect, it } from 'vitest'
import { proves } from '../../../test/requirements.ts'
import { serverOf, sessionServer } from '../../../test/support/scripted-server.ts'
import { openClient } from '../client.ts'
import { withSafeIcons } from './icons.ts'

const fine = [{ src: 'https://x.test/a.png' }, { src: 'data:image/png;base64,AA==' }]

describe('icons', () => {
  it.each([
    'http://x.test/a.png',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'ws://x.test/',
    'a.png',
    '',
    7,
  ])('at %s are refused', src => {
    proves('B20')
    expect(withSafeIcons({ name: 'x', icons: [...fine, { src }] })).toEqual({
      name: 'x',
      icons: fine,
    })
  })

  it('that are allowed leave the object unchanged', () => {
    for (const thing of [{ name: 'x' }, { name: 'x', icons: fine }, { icons: undefined }]) {
      expect(withSafeIcons(thing)).toBe(thing)
    }
    expect(withSafeIcons({ icons: 'none' })).toEqual({ icons: [] })
  })

  it.each(['2025-11-25', '2026-07-28'])(
    'of all listed objects are checked, in %s',
    async revision => {
      proves('B20')
      const icons = [{ src: 'http://x.test/a.png' }]
      const one = { name: 'a', uri: 'x:y', uriTemplate: 'x:{y}', icons }
      const server = serverOf(
        revision,
        {
          'tools/list': () => ({ tools: [one] }),
          'prompts/list': () => ({ prompts: [one] }),
          'resources/list': () => ({ resources: [one] }),
          'resources/templates/list': () => ({ resourceTemplates: [one] }),
        },
        { info: { name: 'iconic', version: '1', icons } },
      )
      await using client = await openClient(server.dial, { onError: () => {} })
      expect(client.server.icons).toEqual([])
      const lists = [
        client.tools(),
        client.prompts(),
        client.resources(),
        client.resourceTemplates(),
      ]
      for (const list of lists) {
        for await (const { icons: shown } of list) expect(shown).toEqual([])
      }
    },
  )

  it('of a server without icons are undefined', async () => {
    await using client = await openClient(sessionServer('2025-11-25').dial, { onError: () => {} })
    expect(client.server.icons).toBeUndefined()
  })
})
