import {
  application,
  every,
  november2025,
  sessions,
  sinceNovember2025,
  stateless,
  under,
} from './table.ts'

/** Roots and sampling. */
export const sampling = [
  ...under('client/roots / Capabilities', sessions, [
    {
      id: 'C1',
      level: 'MUST',
      side: 'client',
      says: 'A client with roots declares the capability `roots` in `initialize`.',
    },
  ]),
  ...under('client/roots / Capabilities', stateless, [
    {
      id: 'C1b',
      level: 'MUST',
      side: 'client',
      says: 'A client with roots declares the capability `roots` in every request.',
    },
  ]),
  ...under('client/roots / Root', every, [
    { id: 'C1c', level: 'MUST', side: 'client', says: 'The URI of a root begins with `file://`.' },
  ]),
  ...under('client/roots / Root List Changes', sessions, [
    {
      id: 'C1d',
      level: 'MUST',
      side: 'client',
      says: 'With `roots.listChanged`, changes of the roots are notified.',
    },
  ]),
  ...under('client/roots / Error Handling', sessions, [
    {
      id: 'C1e',
      level: 'SHOULD',
      side: 'client',
      says: 'Without roots `roots/list` is answered with -32601.',
    },
    {
      id: 'C1f',
      level: 'SHOULD',
      side: 'client',
      says: 'An internal failure to list roots gives -32603.',
    },
  ]),
  ...under('client/roots / Security Considerations', every, [
    {
      id: 'C1g',
      level: 'MUST',
      side: 'client',
      says: 'Only what is permitted is exposed as a root, and is watched.',
      beyond: application,
    },
    {
      id: 'C1h',
      level: 'MUST',
      side: 'client',
      says: 'URIs of roots are validated, so that they cannot lead elsewhere.',
    },
    {
      id: 'C1i',
      level: 'SHOULD',
      side: 'server',
      says: 'The server stays within the roots, and bears that one goes away.',
      beyond: application,
    },
  ]),
  ...under('client/roots / Implementation Guidelines', every, [
    {
      id: 'C1j',
      level: 'SHOULD',
      side: 'client',
      says: 'The user consents to roots, manages them, and they can be reached.',
      beyond: application,
    },
    {
      id: 'C1l',
      level: 'SHOULD',
      side: 'server',
      says: 'The server asks for roots only where the capability is there.',
    },
    {
      id: 'C1n',
      level: 'SHOULD',
      side: 'server',
      says: 'The server remembers the roots for a suitable time.',
      beyond: application,
    },
  ]),
  ...under('client/roots / Implementation Guidelines', sessions, [
    { id: 'C1m', level: 'SHOULD', side: 'server', says: 'The server bears that the roots change.' },
  ]),
  ...under('client/sampling / Capabilities', sessions, [
    {
      id: 'C2',
      level: 'MUST',
      side: 'client',
      says: 'A client that samples declares the capability `sampling` in `initialize`.',
    },
  ]),
  ...under('client/sampling / Capabilities', stateless, [
    {
      id: 'C2b',
      level: 'MUST',
      side: 'client',
      says: 'A client that samples declares the capability `sampling` in every request.',
    },
  ]),
  ...under('client/sampling / Sampling Parameters', stateless, [
    {
      id: 'C2c',
      level: 'MUST',
      side: 'client',
      says: 'No more than `maxTokens` are sampled.',
      beyond: application,
    },
  ]),
  ...under('client/sampling / Messages', stateless, [
    {
      id: 'C2d',
      level: 'MUST',
      side: 'both',
      says: 'Messages for sampling have a role, `user` or `assistant`, and content.',
    },
    {
      id: 'C2e',
      level: 'SHOULD',
      side: 'client',
      says: 'Messages for sampling are not kept from one request to the next.',
    },
  ]),
  ...under('client/sampling / User Interaction Model', every, [
    {
      id: 'C2f',
      level: 'SHOULD',
      side: 'client',
      says: 'A person can look at what is sampled, change it and refuse.',
      beyond: application,
    },
  ]),
  ...under('client/sampling / Error Handling', sessions, [
    {
      id: 'C2g',
      level: 'SHOULD',
      side: 'client',
      says: 'A sampling that the user refused is answered with an error.',
    },
  ]),
  ...under('client/sampling / Security Considerations', every, [
    { id: 'C2h', level: 'SHOULD', side: 'both', says: 'The content of messages is validated.' },
    {
      id: 'C2i',
      level: 'SHOULD',
      side: 'client',
      says: 'Model hints are respected and the user approves.',
      beyond: application,
    },
    {
      id: 'C2k',
      level: 'SHOULD',
      side: 'client',
      says: 'The number of samplings in a time can be limited.',
    },
    {
      id: 'C2l',
      level: 'MUST',
      side: 'both',
      says: 'Sensitive data is handled as it has to be.',
      beyond: application,
    },
  ]),
  ...under('schema / ModelPreferences', every, [
    {
      id: 'C2m',
      level: 'MUST',
      side: 'client',
      says: 'Model hints are tried in their order, as parts of names and before the priorities.',
      beyond: application,
    },
  ]),
  ...under('client/sampling / Tools in Sampling', sinceNovember2025, [
    {
      id: 'C3',
      level: 'MUST',
      side: 'client',
      says: 'A client that takes tools in sampling declares `sampling.tools`.',
    },
    {
      id: 'C3b',
      level: 'MUST',
      side: 'server',
      says: 'No tools are sent in sampling to a client that has not declared `sampling.tools`.',
    },
  ]),
  ...under('schema / CreateMessageRequestParams', sinceNovember2025, [
    {
      id: 'C3c',
      level: 'MUST',
      side: 'client',
      says: 'Tools in sampling that was not declared to take them are refused with an error.',
    },
  ]),
  ...under('client/sampling / Tool Result Messages', sinceNovember2025, [
    {
      id: 'C3d',
      level: 'MUST',
      side: 'server',
      says: 'A message with results of tools has nothing else in it.',
    },
  ]),
  ...under('client/sampling / Tool Use and Result Balance', sinceNovember2025, [
    {
      id: 'C3e',
      level: 'MUST',
      side: 'server',
      says: 'Every use of a tool is followed by its result, before any other message.',
    },
  ]),
  ...under('client/sampling / Error Handling', november2025, [
    {
      id: 'C3f',
      level: 'SHOULD',
      side: 'client',
      says: 'A use of a tool without its result is answered with -32602.',
    },
    {
      id: 'C3g',
      level: 'SHOULD',
      side: 'client',
      says: 'Results of tools mixed with other content are answered with -32602.',
    },
  ]),
  ...under('client/sampling / Security Considerations, tools', sinceNovember2025, [
    {
      id: 'C3h',
      level: 'SHOULD',
      side: 'both',
      says: 'The rounds of using tools are limited.',
      beyond: application,
    },
  ]),
  ...under('client/sampling / Tool Choice Modes', sinceNovember2025, [
    {
      id: 'C3k',
      level: 'MUST',
      side: 'client',
      says: 'The model uses tools as the tool choice says.',
      beyond: application,
    },
  ]),
  ...under('schema / ToolUseContent, ToolResultContent', sinceNovember2025, [
    {
      id: 'C3l',
      level: 'SHOULD',
      side: 'server',
      says: 'The structured result of a tool with an `outputSchema` conforms to it in sampling too.',
      beyond: application,
    },
    {
      id: 'C3j',
      level: 'SHOULD',
      side: 'client',
      says: 'The `_meta` of uses and results of tools is kept when they are sent again.',
    },
  ]),
  ...under('client/sampling / Capabilities', sinceNovember2025, [
    {
      id: 'C4',
      level: 'SHOULD',
      side: 'server',
      says: 'Other contexts than `none` are asked for only where `sampling.context` is declared, and better not at all.',
    },
  ]),
]
