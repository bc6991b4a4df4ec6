import { expect, test } from 'vitest'
import { tellingLine } from './telling-line.ts'

const cases: readonly (readonly [string, string, string | undefined])[] = [
  ['nothing', ' \n\n', undefined],
  ['one line', 'API_KEY is not set\n', 'API_KEY is not set'],
  [
    'an uncaught error of Node.js',
    `/home/me/server.js:3
  throw new Error('API_KEY is not set')
        ^

Error: API_KEY is not set
    at Object.<anonymous> (/home/me/server.js:3:9)
    at node:internal/main/run_main_module:36:49 {
  code: 'E_KEY',
  [cause]: Error: inner
}

Node.js v20.20.2
`,
    'Error: API_KEY is not set',
  ],
  [
    'a module that is missing',
    `node:internal/modules/esm/resolve:283
    throw new ERR_MODULE_NOT_FOUND(
          ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/a.js
    at packageResolve (node:internal/modules/esm/resolve:283:9) {
  code: 'ERR_MODULE_NOT_FOUND'
}

Node.js v22.1.0`,
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/a.js",
  ],
  [
    'a traceback of Python',
    `Traceback (most recent call last):
  File "/srv/a.py", line 3, in <module>
    import nothing
ModuleNotFoundError: No module named 'nothing'
`,
    "ModuleNotFoundError: No module named 'nothing'",
  ],
  [
    'an error that is followed by advice',
    'Error: the vault is missing\n- Point to the home directory root\nPlease choose a vault\n',
    'Error: the vault is missing',
  ],
  [
    'a package that npx cannot find',
    `npm warn Unknown user config "nodedir". This will stop working in the next major version of npm.
npm error code E404
npm error 404 Not Found - GET https://packages.example/no-such-thing - Not found
npm error 404
npm error 404  The requested resource 'no-such-thing@*' could not be found.
npm error A complete log of this run can be found in: /home/me/.npm/_logs/x-debug-0.log
`,
    'Not Found - GET https://packages.example/no-such-thing - Not found',
  ],
  [
    'a program that npx runs',
    'npm warn exec The following package was not found\nnpm notice New version of npm\nGITHUB_TOKEN must be set\n',
    'GITHUB_TOKEN must be set',
  ],
  ['a shell', 'starting\nsh: 1: exec: foo: not found\n', 'sh: 1: exec: foo: not found'],
  ['Go', 'panic: no database\n\ngoroutine 1 [running]:\nmain.main()\n', 'panic: no database'],
  ['colors', '\u001b[31mError:\u001b[0m \u001b[1mbroken\u001b[22m\n', 'Error: broken'],
  ['usage', 'usage: quitter <what>\n  --loud\n', 'usage: quitter <what>'],
  ['plain talk', 'reading the disk\nthe disk is on fire\n', 'the disk is on fire'],
]

test.each(cases)('finds the telling line of %s', (_, output, expected) => {
  expect(tellingLine(output)).toBe(expected)
})
