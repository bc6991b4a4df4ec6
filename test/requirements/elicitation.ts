import {
  application,
  june2025,
  juneAndNovember2025,
  november2025,
  sinceJune2025,
  sinceNovember2025,
  stateless,
  under,
} from './table.ts'

/** Elicitation. */
export const elicitation = [
  ...under('client/elicitation / Capabilities', juneAndNovember2025, [
    {
      id: 'C5',
      level: 'MUST',
      side: 'client',
      says: 'A client that elicits declares the capability `elicitation` in `initialize`.',
    },
  ]),
  ...under('client/elicitation / Capabilities', stateless, [
    {
      id: 'C5b',
      level: 'MUST',
      side: 'client',
      says: 'A client that elicits declares the capability `elicitation` in every request.',
    },
  ]),
  ...under('client/elicitation / User Interaction Model', sinceJune2025, [
    {
      id: 'C5c',
      level: 'MUST',
      side: 'server',
      says: 'Forms do not ask for secrets.',
      beyond: application,
    },
  ]),
  ...under('client/elicitation / User Interaction Model', sinceNovember2025, [
    {
      id: 'C5d',
      level: 'MUST',
      side: 'server',
      says: 'Secrets are asked for by URL.',
      beyond: application,
    },
    {
      id: 'C5e',
      level: 'MUST',
      side: 'client',
      says: 'The user sees who asks, can change the answers, can decline and cancel, and consents to a URL whose host is shown.',
      beyond: application,
    },
  ]),
  ...under('client/elicitation / User Interaction Model', june2025, [
    {
      id: 'C5m',
      level: 'SHOULD',
      side: 'client',
      says: 'The user sees who asks, can change the answers, can decline and cancel.',
      beyond: application,
    },
  ]),
  ...under('client/elicitation / Error Handling', stateless, [
    {
      id: 'C5f',
      level: 'MUST',
      side: 'server',
      says: 'An elicitation that is declined, cancelled or never answered is dealt with.',
    },
  ]),
  ...under('client/elicitation / Form Mode Security', sinceJune2025, [
    {
      id: 'C5h',
      level: 'SHOULD',
      side: 'client',
      says: 'Answers to a form are validated against its schema before they are sent.',
    },
    {
      id: 'C5i',
      level: 'SHOULD',
      side: 'server',
      says: 'Answers to a form are validated against its schema when they arrive.',
    },
  ]),
  ...under('client/elicitation / Requested Schema', sinceJune2025, [
    {
      id: 'C5j',
      level: 'MUST',
      side: 'server',
      says: 'The schema of a form is a flat object of primitive properties.',
    },
    {
      id: 'C6',
      level: 'MUST',
      side: 'server',
      says: 'Strings in a form have no other formats than `email`, `uri`, `date` and `date-time`.',
    },
  ]),
  ...under('client/elicitation / Requested Schema', june2025, [
    {
      id: 'C6b',
      level: 'MUST',
      side: 'server',
      says: 'A form has no defaults except of booleans, and no choice of several values.',
    },
  ]),
  ...under('client/elicitation / Requested Schema', sinceNovember2025, [
    {
      id: 'C6c',
      level: 'SHOULD',
      side: 'client',
      says: 'Defaults of a form are filled in beforehand.',
    },
  ]),
  ...under('client/elicitation / Security Considerations', juneAndNovember2025, [
    {
      id: 'C5k',
      level: 'SHOULD',
      side: 'client',
      says: 'The number of elicitations in a time can be limited.',
    },
  ]),
  ...under('client/elicitation / Security Considerations', sinceJune2025, [
    {
      id: 'C5l',
      level: 'SHOULD',
      side: 'client',
      says: 'The user approves, can decline at any time, and sees clearly what is requested and why.',
      beyond: application,
    },
  ]),
  ...under('client/elicitation / Security Considerations', sinceNovember2025, [
    {
      id: 'C8n',
      level: 'MUST',
      side: 'server',
      says: 'An elicitation belongs to the client and the user it was made for.',
    },
  ]),
  ...under('client/elicitation / Capabilities, modes', sinceNovember2025, [
    {
      id: 'C7b',
      level: 'MUST',
      side: 'client',
      says: 'A client that elicits supports forms, URLs, or both.',
    },
    {
      id: 'C7c',
      level: 'MUST',
      side: 'server',
      says: 'No mode is used that the client does not support.',
    },
    {
      id: 'C7e',
      level: 'MUST',
      side: 'server',
      says: 'An empty capability `elicitation` means forms only.',
    },
  ]),
  ...under('client/elicitation / Elicitation Requests', sinceNovember2025, [
    { id: 'C7', level: 'MUST', side: 'client', says: 'A request without a mode is a form.' },
    { id: 'C7f', level: 'MUST', side: 'server', says: 'Every elicitation has a message.' },
  ]),
  ...under('client/elicitation / Form Mode Elicitation Requests', sinceNovember2025, [
    {
      id: 'C7g',
      level: 'MUST',
      side: 'server',
      says: 'A form has the mode `form`, or none, and a schema.',
    },
  ]),
  ...under('client/elicitation / URL Mode Elicitation Requests', sinceNovember2025, [
    {
      id: 'C7h',
      level: 'MUST',
      side: 'server',
      says: 'An elicitation by URL has the mode `url`, a message and a URL.',
    },
    { id: 'C7i', level: 'MUST', side: 'server', says: 'That URL is valid.' },
  ]),
  ...under('client/elicitation / URL Mode Elicitation Requests', november2025, [
    {
      id: 'C7j',
      level: 'MUST',
      side: 'server',
      says: 'An elicitation by URL has an `elicitationId`.',
    },
  ]),
  ...under('client/elicitation / Error Handling', november2025, [
    {
      id: 'C7d',
      level: 'MUST',
      side: 'client',
      says: 'A mode that the client has not declared is answered with -32602.',
    },
    {
      id: 'C9g',
      level: 'MUST',
      side: 'server',
      says: 'A request that must wait for an elicitation by URL is answered with -32042.',
    },
  ]),
  ...under('client/elicitation / Safe URL Handling', sinceNovember2025, [
    {
      id: 'C8',
      level: 'MUST',
      side: 'client',
      says: 'The URL of an elicitation is not fetched in advance.',
    },
    {
      id: 'C8b',
      level: 'MUST',
      side: 'client',
      says: 'The URL of an elicitation is not opened unless the user consents.',
    },
    {
      id: 'C8c',
      level: 'MUST',
      side: 'client',
      says: 'The user sees the whole URL first.',
      beyond: application,
    },
    {
      id: 'C8d',
      level: 'MUST',
      side: 'client',
      says: 'The URL is opened where neither the client nor the model can look in.',
      beyond: application,
    },
    {
      id: 'C8e',
      level: 'SHOULD',
      side: 'client',
      says: 'The domain of the URL is made plain, and the user is warned of suspicious ones.',
      beyond: application,
    },
    {
      id: 'C8g',
      level: 'SHOULD',
      side: 'client',
      says: 'URLs elsewhere in an elicitation cannot be clicked.',
      beyond: application,
    },
    {
      id: 'C8h',
      level: 'MUST',
      side: 'server',
      says: 'The URL gives away nothing about the user and opens nothing that is protected.',
      beyond: application,
    },
    {
      id: 'C8j',
      level: 'SHOULD',
      side: 'server',
      says: 'Forms contain no URLs to click, and URLs are `https` outside of development.',
      beyond: application,
    },
  ]),
  ...under('client/elicitation / Identifying the User', sinceNovember2025, [
    {
      id: 'C8m',
      level: 'MUST',
      side: 'server',
      says: 'Who the user is, is not taken from what the client says unless it was verified.',
      beyond: application,
    },
  ]),
  ...under('client/elicitation / Phishing', sinceNovember2025, [
    {
      id: 'C8l',
      level: 'MUST',
      side: 'server',
      says: 'The user who opens the URL is verified to be the one it was made for, even if the URL was changed.',
      beyond: application,
    },
  ]),
  ...under('client/elicitation / Statefulness', sinceNovember2025, [
    {
      id: 'C8o',
      level: 'MUST',
      side: 'server',
      says: 'State of elicitations is tied to users and protected.',
      beyond: application,
    },
  ]),
  ...under('client/elicitation / URL Mode Elicitation for OAuth Flows', sinceNovember2025, [
    {
      id: 'C8p',
      level: 'MUST',
      side: 'server',
      says: 'Elicitation by URL does not authorize users for the server itself.',
      beyond: application,
    },
    {
      id: 'C8q',
      level: 'MUST',
      side: 'server',
      says: 'Credentials for third parties neither pass through the client nor are those of the client.',
      beyond: application,
    },
  ]),
  ...under('client/elicitation / URL Mode Elicitation Requests, response', sinceNovember2025, [
    {
      id: 'C8r',
      level: 'SHOULD',
      side: 'client',
      says: 'The user can try the request again or cancel it by hand.',
      beyond: application,
    },
  ]),
  ...under('client/elicitation / Completion Notifications for URL Mode Elicitation', november2025, [
    {
      id: 'C9',
      level: 'MUST',
      side: 'server',
      says: 'The completion of an elicitation is sent only to the client that it was sent to.',
    },
    {
      id: 'C9b',
      level: 'MUST',
      side: 'server',
      says: 'The completion of an elicitation is sent with its `elicitationId`.',
    },
    {
      id: 'C9c',
      level: 'MUST',
      side: 'client',
      says: 'Ends of elicitations that are unknown or over are ignored.',
    },
  ]),
  ...under('client/elicitation / URL Elicitation Required Error', november2025, [
    {
      id: 'C9d',
      level: 'MUST',
      side: 'server',
      says: 'The code -32042 is used only where an elicitation by URL is needed.',
    },
    {
      id: 'C9e',
      level: 'MUST',
      side: 'server',
      says: 'That error lists the elicitations that are needed, which are by URL and have an `elicitationId`.',
    },
  ]),
  ...under('schema / ElicitRequestURLParams', november2025, [
    {
      id: 'C9h',
      level: 'MUST',
      side: 'client',
      says: 'The client reads nothing into an `elicitationId`.',
    },
  ]),
]
