import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyText } from '../../test/support/any-text.ts'
import {
  canonicalNotification,
  checkName,
  erlmcpNotification,
  maxNameLength,
  validateName,
} from './names.ts'

describe('the name of a tool or prompt', () => {
  test.each([
    ['one letter', 'a'],
    ['all kinds of characters', 'Get_User-v2.1'],
    ['digits alone', '42'],
    ['a slash', 'git/commit'],
    ['128 characters', 'x'.repeat(maxNameLength)],
    ['a name that every object has', 'constructor'],
    ['the name of a prototype', '__proto__'],
  ])('is fine with %s', (_, name) => {
    expect(validateName(name)).toEqual({ status: 'ok' })
    expect(checkName(name, 'tool')).toBeUndefined()
  })

  test.each([
    ['a space', 'get user', '" "'],
    ['a comma', 'a,b', '","'],
    ['an at sign', 'a@b', '"@"'],
    ['letters of other scripts', 'größe', '"ö"'],
    ['a character beyond 16 bits', 'go🚀', '"🚀"'],
    ['129 characters', 'x'.repeat(maxNameLength + 1), 'longer than 128'],
  ])('gets a warning for %s', (_, name, shown) => {
    expect(validateName(name)).toMatchObject({
      status: 'warning',
      reason: expect.stringContaining(shown),
    })
    expect(checkName(name)).toBeUndefined()
  })

  test.each([
    ['nothing in it', '', 'is empty'],
    ['NUL', 'a\0b', 'U+0000'],
    ['a line feed', 'a\nb', 'U+000A'],
    ['a line feed at the end', 'ab\n', 'U+000A'],
    ['an escape sequence', '\u001b[31mred', 'U+001B'],
    ['DEL', 'a\u007f', 'U+007F'],
    ['a control of the second block', 'a\u0085', 'U+0085'],
    ['a lone surrogate', 'a\ud800b', 'U+D800'],
    ['the other half', '\udc00', 'U+DC00'],
    ['a zero-width space', 'a\u200bb', 'U+200B'],
    ['a zero-width joiner', 'a\u200db', 'U+200D'],
    ['a direction override', 'a\u202eb', 'U+202E'],
    ['a byte order mark', '\ufeffa', 'U+FEFF'],
    ['a soft hyphen', 'a\u00adb', 'U+00AD'],
    ['a tag', 'a\u{e0041}', 'U+E0041'],
    ['a variation selector', 'a\ufe0f', 'U+FE0F'],
    ['a no-break space', 'a\u00a0b', 'U+00A0'],
    ['a Hangul filler', 'a\u3164b', 'U+3164'],
    ['a line separator', 'a\u2028b', 'U+2028'],
    ['a character for private use', 'a\ue000', 'U+E000'],
  ])('is refused with %s', (_, name, shown) => {
    expect(validateName(name)).toMatchObject({
      status: 'invalid',
      reason: expect.stringContaining(shown),
    })
    expect(checkName(name, 'tool')).toMatch(/^the name of this tool /)
  })

  test.each([[undefined], [null], [1], [{}], [['a']]])('is refused when it is %j', value => {
    expect(validateName(value)).toEqual({ status: 'invalid', reason: 'is not a string' })
  })

  test('a reason never contains what cannot be seen', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 20 }), name => {
        const checked = validateName(name)
        const reason = checked.status === 'ok' ? '' : checked.reason
        expect(reason).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
      }),
    )
  })
})

describe('the spellings of a notification', () => {
  const rows = [
    ['initialized', 'notifications/initialized'],
    ['message', 'notifications/message'],
    ['logging/message', 'notifications/message'],
    ['progress', 'notifications/progress'],
    ['tool/progress', 'notifications/progress'],
    ['resources/updated', 'notifications/resources/updated'],
    ['resources/list_changed', 'notifications/resources/list_changed'],
    ['resources/listChanged', 'notifications/resources/list_changed'],
    ['notifications/resources/listChanged', 'notifications/resources/list_changed'],
    ['tools/list_changed', 'notifications/tools/list_changed'],
    ['tools/listChanged', 'notifications/tools/list_changed'],
    ['notifications/tools/listChanged', 'notifications/tools/list_changed'],
    ['prompts/list_changed', 'notifications/prompts/list_changed'],
    ['prompts/listChanged', 'notifications/prompts/list_changed'],
    ['notifications/prompts/listChanged', 'notifications/prompts/list_changed'],
    ['roots/list_changed', 'notifications/roots/list_changed'],
    ['roots/listChanged', 'notifications/roots/list_changed'],
    ['notifications/roots/listChanged', 'notifications/roots/list_changed'],
  ] as const

  test.each(rows)('%s is %s', (spelling, canonical) => {
    expect(canonicalNotification(spelling)).toBe(canonical)
    expect(canonicalNotification(canonical)).toBe(canonical)
  })

  test.each([
    ['notifications/message', 'message'],
    ['notifications/progress', 'progress'],
    ['notifications/resources/updated', 'resources/updated'],
    ['notifications/resources/list_changed', 'resources/list_changed'],
    ['notifications/tools/list_changed', 'tools/list_changed'],
    ['notifications/prompts/list_changed', 'prompts/list_changed'],
    ['notifications/roots/list_changed', 'roots/list_changed'],
    ['notifications/initialized', 'notifications/initialized'],
    ['notifications/cancelled', 'notifications/cancelled'],
  ])('erlmcp writes %s as %s', (canonical, seed) => {
    expect(erlmcpNotification(canonical)).toBe(seed)
    expect(canonicalNotification(seed)).toBe(canonical)
  })

  test.each([['tools/call'], ['constructor'], ['__proto__'], [''], ['Message']])(
    '"%s" is not an alias',
    name => {
      expect(canonicalNotification(name)).toBe(name)
      expect(erlmcpNotification(name)).toBe(name)
    },
  )
})
