import { describe, expect, test } from 'vitest'
import { formats } from './formats.ts'

const right = {
  email: [
    'joe.bloggs@example.com',
    'te~st+tag@example.com',
    '"joe bloggs"@example.com',
    '"joe@bloggs"@example.com',
    'joe@[127.0.0.1]',
    'joe@[IPv6:::1]',
    'jürgen@bücher.example',
    'root@localhost',
  ],
  uri: [
    'http://example.com',
    'http://foo.bar/?baz=qux#quux',
    'http://userid:password@example.com:8080/',
    'http://[::1]:8080/x',
    'ftp://[v1.fe80::a+en1]/x',
    'urn:oasis:names:specification:docbook:dtd:xml:4.1.2',
    'mailto:John.Doe@example.com',
    'file:///etc/app.json',
    'https://example.com/%20a?q=1',
    'a:',
  ],
  date: ['2024-02-29', '2000-02-29', '1963-06-19', '0000-01-01', '9999-12-31'],
  'date-time': [
    '1963-06-19T08:30:06.283185Z',
    '1963-06-19t08:30:06z',
    '1990-02-18T15:59:60.123-08:00',
    '1998-12-31T23:59:60Z',
    '2016-12-31T23:59:60Z',
    '2017-01-01T05:29:60+05:30',
    '1937-01-01T12:00:27.87+00:20',
  ],
}

const wrong = {
  email: [
    '2962',
    '@example.com',
    'joe@',
    '.test@example.com',
    'test.@example.com',
    'te..st@example.com',
    'joe@-example.com',
    'joe@example-.com',
    'joe@example..com',
    'joe bloggs@example.com',
    'joe@exa mple.com',
    'joe@example.com ',
    'joe@example.com\n',
    `${'a'.repeat(65)}@example.com`,
    `joe@${'a'.repeat(64)}.com`,
  ],
  uri: [
    '//foo.bar/?baz=qux#quux',
    '/abc',
    'abc',
    '',
    '\\\\WINDOWS\\fileshare',
    'http:// shouldfail.com',
    ':// should fail',
    'bar,baz:foo',
    'https://[@example.org/test.txt',
    'https://example.org/foobar\\.txt',
    'https://example.org/foobar<>.txt',
    'https://example.org/foobar{}.txt',
    'https://example.org/a[b',
    'https://example.org/%zz',
    'https://example.org/%2',
    'https://a:b:c/',
    'https://example.org:80a/',
    'https://ex.org/#a#b',
    'http://exämple.com',
  ],
  date: [
    '2023-02-29',
    '1900-02-29',
    '2024-13-01',
    '2024-00-10',
    '2024-04-31',
    '24-01-01',
    '2024-1-1',
  ],
  'date-time': [
    '1990-02-31T15:59:59Z',
    '1990-12-31T24:00:00Z',
    '1990-12-31T15:59:61Z',
    '1998-12-31T23:58:60Z',
    '1998-12-31T22:59:60Z',
    '1963-06-19T08:30:06',
    '1963-06-19 08:30:06Z',
    '1963-06-19T08:30:06.Z',
    '1990-12-31T10:00:00+24:00',
    '2013-350T01:01:01',
    '1963-06-19',
  ],
}

const rows = (table: Record<string, readonly string[]>) =>
  Object.entries(table).flatMap(([format, texts]) => texts.map(text => [format, text] as const))

describe('a format', () => {
  test.each(rows(right))('%s: %j', (format, text) => {
    expect(formats.get(format)?.(text)).toBe(true)
  })

  test.each(rows(wrong))('not %s: %j', (format, text) => {
    expect(formats.get(format)?.(text)).toBe(false)
  })

  test.each([...formats.keys()])('%s is done at once with a long text', format => {
    for (const start of ['a@', 'a:', '2024-01-01T00:00:00.', '"', '[']) {
      expect(formats.get(format)?.(`${start}${'a.%20'.repeat(200_000)} `)).toBe(false)
    }
  })
})
