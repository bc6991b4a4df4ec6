import {
  application,
  every,
  sessions,
  sinceJune2025,
  sinceMarch2025,
  stateless,
  under,
} from './table.ts'

/** Resources and prompts, and the rules common to all lists. */
export const resources = [
  ...under('server/tools, server/resources, server/prompts / Capabilities', every, [
    {
      id: 'S1',
      level: 'MUST',
      side: 'server',
      says: 'A server with tools, resources or prompts declares the capability of that name.',
    },
  ]),
  ...under('server/tools, server/resources, server/prompts / List Changed Notification', every, [
    {
      id: 'S2',
      level: 'SHOULD',
      side: 'server',
      says: 'With `listChanged`, changes of the tools, resources or prompts are notified.',
    },
  ]),
  ...under('server/tools, server/resources, server/prompts / Capabilities', stateless, [
    {
      id: 'S1d',
      level: 'MUST',
      side: 'server',
      says: 'A declared capability means that its list is answered, even if it is empty.',
    },
    {
      id: 'B16',
      level: 'MUST',
      side: 'server',
      says: 'Lists do not depend on the connection nor on other requests.',
    },
  ]),
  ...under('server/resources / Subscriptions', sessions, [
    {
      id: 'S13',
      level: 'MUST',
      side: 'server',
      says: 'After `resources/subscribe`, a change of that resource is notified by `notifications/resources/updated`.',
    },
    {
      id: 'S13b',
      level: 'MUST',
      side: 'server',
      says: 'After `resources/unsubscribe` changes are no longer notified.',
    },
  ]),
  ...under('server/resources / Resource Templates', every, [
    {
      id: 'S14',
      level: 'MUST',
      side: 'server',
      says: 'Templates of resources are URI templates of RFC 6570.',
    },
  ]),
  ...under('server/resources / Common URI Schemes', sinceJune2025, [
    {
      id: 'S14b',
      level: 'MUST',
      side: 'server',
      says: "URIs with schemes of one's own keep to RFC 3986.",
    },
  ]),
  ...under('server/resources / Common URI Schemes', every, [
    {
      id: 'S14c',
      level: 'SHOULD',
      side: 'server',
      says: 'The scheme `https` is only for what the client can fetch by itself.',
      beyond: application,
    },
  ]),
  ...under('server/resources / Error Handling', sessions, [
    {
      id: 'S15',
      level: 'SHOULD',
      side: 'server',
      says: 'Reading a resource that does not exist is answered with -32002.',
    },
  ]),
  ...under('server/resources / Error Handling', stateless, [
    {
      id: 'S15b',
      level: 'MUST',
      side: 'server',
      says: 'Reading a resource that does not exist is answered with -32602.',
    },
    {
      id: 'S15c',
      level: 'MUST',
      side: 'server',
      says: 'It is never answered with empty contents.',
    },
    {
      id: 'S15d',
      level: 'SHOULD',
      side: 'client',
      says: 'The code -32002 is understood as a resource that does not exist, too.',
    },
  ]),
  ...under('server/resources / Error Handling', every, [
    {
      id: 'S15e',
      level: 'SHOULD',
      side: 'server',
      says: 'A resource that cannot be read for a reason within the server is answered with -32603.',
    },
  ]),
  ...under('server/resources / Security Considerations', stateless, [
    {
      id: 'S16',
      level: 'MUST',
      side: 'server',
      says: 'Paths in `file:` URIs cannot lead out of where they belong.',
    },
  ]),
  ...under('server/resources / Security Considerations', every, [
    { id: 'S18', level: 'MUST', side: 'server', says: 'The URI of a resource is validated.' },
    {
      id: 'S18b',
      level: 'SHOULD',
      side: 'server',
      says: 'Sensitive resources are protected, and rights checked before anything is done.',
      beyond: application,
    },
    { id: 'S18c', level: 'MUST', side: 'server', says: 'Binary contents are Base64.' },
  ]),
  ...under('server/prompts / Error Handling', every, [
    {
      id: 'S17',
      level: 'SHOULD',
      side: 'server',
      says: 'A prompt that does not exist is answered with -32602.',
    },
    {
      id: 'S17b',
      level: 'SHOULD',
      side: 'server',
      says: 'A prompt without a required argument is answered with -32602.',
    },
    {
      id: 'S17c',
      level: 'SHOULD',
      side: 'server',
      says: 'A prompt that fails within the server is answered with -32603.',
    },
  ]),
  ...under('server/prompts / Image Content', every, [
    {
      id: 'S17d',
      level: 'MUST',
      side: 'server',
      says: 'An image in a prompt is Base64 and has its media type.',
    },
  ]),
  ...under('server/prompts / Audio Content', sinceMarch2025, [
    {
      id: 'S17e',
      level: 'MUST',
      side: 'server',
      says: 'Audio in a prompt is Base64 and has its media type.',
    },
  ]),
  ...under('server/prompts / Embedded Resources', every, [
    {
      id: 'S17f',
      level: 'MUST',
      side: 'server',
      says: 'A resource in a prompt has its URI, its media type, and text or Base64.',
    },
  ]),
  ...under('server/prompts / Implementation Considerations', every, [
    {
      id: 'S17g',
      level: 'SHOULD',
      side: 'server',
      says: 'Arguments of a prompt are validated before it runs.',
    },
    {
      id: 'S17h',
      level: 'SHOULD',
      side: 'client',
      says: 'Lists of prompts with several pages are read to the end.',
    },
    {
      id: 'S17i',
      level: 'SHOULD',
      side: 'both',
      says: 'Prompts are used only where the capability is there.',
    },
  ]),
  ...under('server/prompts / Security', every, [
    {
      id: 'S17j',
      level: 'MUST',
      side: 'both',
      says: 'What goes into prompts and comes out of them is validated.',
    },
  ]),
]
