import type { CommandRow, OptionRow } from './rows.ts'

const configOption: OptionRow = {
  name: 'config',
  value: 'FILE',
  meaning: 'Configuration file to look up server names in.',
}

/** The log of a router in which a command records what it changes. */
const auditOption: OptionRow = {
  name: 'audit',
  value: 'FILE',
  meaning: 'Record what was changed in this audit log, such as that of the router.',
}

/** The commands for authorization. */
export const authorizationCommands: readonly CommandRow[] = [
  {
    name: 'login',
    aka: ['auth', 'authorize', 'signin'],
    operands: 'URL',
    maxOperands: 1,
    summary: 'Log in at a server, and store the tokens for the other commands.',
    options: [
      {
        name: 'scope',
        value: 'SCOPE',
        many: true,
        meaning: 'Ask for this scope, besides those that the server names.',
      },
      {
        name: 'client-id',
        value: 'ID',
        meaning: 'Id of a client that is registered by hand. By default one is registered.',
      },
      {
        name: 'client-secret-env',
        value: 'NAME',
        meaning:
          'Environment variable with the secret of that client. The secret is stored with the tokens, to renew them.',
      },
      { name: 'issuer', value: 'URL', meaning: 'Use only this authorization server.' },
      {
        name: 'callback-port',
        value: 'PORT',
        meaning: 'Port on which to wait for the browser to return; by default a free one.',
      },
      {
        name: 'callback-host',
        value: 'HOST',
        choices: ['127.0.0.1', 'localhost'],
        meaning: 'Name of this machine in the address that the browser returns to.',
      },
      { name: 'no-browser', meaning: 'Only print the address of the page, and open no browser.' },
      {
        name: 'dpop',
        meaning: 'Bind the tokens to a key, also if the server does not require it.',
      },
      configOption,
    ],
    examples: [
      'trunkline login https://tools.example.com/mcp',
      'trunkline login https://tools.example.com/mcp --scope notes:write --no-browser',
    ],
  },
  {
    name: 'logout',
    aka: ['signout'],
    operands: '[URL]',
    maxOperands: 1,
    summary: 'Revoke and remove the tokens of a login.',
    options: [{ name: 'all', meaning: 'Remove every login.' }, configOption],
    examples: ['trunkline logout https://tools.example.com/mcp', 'trunkline logout --all'],
  },
  {
    name: 'grants',
    aka: ['logins', 'whoami'],
    operands: '[list|revoke] [SERVER]',
    maxOperands: 2,
    summary: 'List the stored logins, or list and revoke what users have granted a router.',
    options: [
      {
        name: 'vault',
        value: 'FOLDER',
        meaning:
          'The folder of a router for what users have granted, as `vault` in its configuration names it.',
      },
      {
        name: 'keys',
        value: 'FILE',
        meaning: 'Read the keys of that router from this file; else from `TRUNKLINE_KEYS`.',
      },
      {
        name: 'user',
        value: 'ID',
        meaning: 'Revoke the grants of this user only, as the list names it.',
      },
      auditOption,
    ],
    examples: [
      'trunkline grants --json',
      'trunkline grants list --vault vault --keys keys.txt',
      'trunkline grants revoke https://notes.example.com/mcp --vault vault --keys keys.txt',
    ],
  },
  {
    name: 'keys',
    aka: ['apikeys', 'api-keys'],
    operands: 'new|list|revoke [NAME]',
    maxOperands: 2,
    summary: 'Make, list and revoke the API keys of a router or server.',
    options: [
      {
        name: 'file',
        value: 'FILE',
        meaning:
          'The file of the keys, which `auth.apiKeys` names. It has only digests of the keys.',
      },
      { name: 'scope', value: 'SCOPE', many: true, meaning: 'Scope of the new key.' },
      { name: 'role', value: 'ROLE', many: true, meaning: 'Role of the new key.' },
      {
        name: 'expires',
        value: 'TIME',
        meaning: 'How long the new key is valid: `90d` or `12h`; by default until it is revoked.',
      },
      auditOption,
    ],
    examples: [
      'trunkline keys new ada --file keys.json --scope mcp --expires 90d',
      'trunkline keys list --file keys.json',
      'trunkline keys revoke ada --file keys.json',
    ],
  },
  {
    name: 'policy',
    aka: ['access', 'acl', 'rules'],
    operands: 'test FILE [NAME…]',
    summary: 'Print what an access policy decides about a caller, and by which rule.',
    options: [
      {
        name: 'as',
        value: 'FILE',
        meaning:
          'The claims of the token of the caller, as a JSON object: `sub`, `scope`, `roles`, `client_id` and any others. By default the caller is anonymous.',
      },
      {
        name: 'kind',
        value: 'KIND',
        choices: ['tool', 'prompt', 'resource'],
        meaning: 'What the names denote; by default tools.',
      },
      { name: 'server', value: 'NAME', meaning: 'The server, for rules that are limited to one.' },
    ],
    examples: [
      'trunkline policy test policy.jsonc --as claims.json',
      'trunkline policy test policy.jsonc --as claims.json notes__add --json',
    ],
  },
  {
    name: 'audit',
    operands: 'verify FILE',
    maxOperands: 2,
    summary: 'Check that no line of an audit log was changed, added or removed.',
    options: [],
    examples: ['trunkline audit verify audit.jsonl'],
  },
]
