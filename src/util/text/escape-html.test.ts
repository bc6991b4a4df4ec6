import { expect, test } from 'vitest'
import { escapeHtml } from './escape-html.ts'

test('a text cannot become an element, an attribute or a character reference', () => {
  expect(escapeHtml('<a href="x">&lt;</a>')).toBe('&lt;a href=&quot;x&quot;&gt;&amp;lt;&lt;/a&gt;')
})
