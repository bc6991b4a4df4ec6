import {
  application,
  every,
  juneAndNovember2025,
  november2025,
  sessions,
  sinceJune2025,
  sinceMarch2025,
  sinceNovember2025,
  stateless,
  under,
} from './table.ts'

/** Tools. */
export const tools = [
  ...under('server/tools / Capabilities, order', stateless, [
    {
      id: 'S3',
      level: 'SHOULD',
      side: 'server',
      says: 'While the tools do not change, they are listed in the same order.',
    },
  ]),
  ...under('server/tools / Tool', sinceMarch2025, [
    {
      id: 'S4',
      level: 'MUST',
      side: 'client',
      says: 'Annotations of tools are not trusted unless the server is.',
    },
  ]),
  ...under('server/tools / Tool Names', sinceNovember2025, [
    {
      id: 'S5',
      level: 'SHOULD',
      side: 'server',
      says: 'The name of a tool has 1 to 128 characters.',
    },
    {
      id: 'S5b',
      level: 'SHOULD',
      side: 'server',
      says: 'Names of tools that differ in case are different.',
    },
    {
      id: 'S5c',
      level: 'SHOULD',
      side: 'server',
      says: 'The name of a tool has only letters, digits, underscores, hyphens and dots.',
    },
    {
      id: 'S5e',
      level: 'SHOULD',
      side: 'server',
      says: 'A server has no two tools of the same name.',
    },
  ]),
  ...under('server/tools / Tool Names', stateless, [
    {
      id: 'S5f',
      level: 'SHOULD',
      side: 'client',
      says: 'A client that merges the tools of several servers makes equal names distinct, for example by a prefix.',
    },
    {
      id: 'S5g',
      level: 'SHOULD',
      side: 'client',
      says: 'The name a server gives itself is not what keeps them apart.',
    },
  ]),
  ...under('server/tools / Tool', sinceNovember2025, [
    {
      id: 'S6',
      level: 'MUST',
      side: 'server',
      says: 'The `inputSchema` of a tool is a valid JSON Schema object.',
    },
    {
      id: 'S6b',
      level: 'SHOULD',
      side: 'server',
      says: 'A tool without parameters says so with an object schema that takes no properties.',
    },
  ]),
  ...under('server/tools / Output Schema', sinceJune2025, [
    {
      id: 'S7',
      level: 'MUST',
      side: 'server',
      says: 'With an `outputSchema`, the structured result conforms to it.',
    },
    {
      id: 'S7b',
      level: 'SHOULD',
      side: 'client',
      says: 'With an `outputSchema`, the client validates the structured result.',
    },
  ]),
  ...under('server/tools / Structured Content', sinceJune2025, [
    {
      id: 'S7c',
      level: 'SHOULD',
      side: 'server',
      says: 'A structured result comes as JSON in a text block too.',
    },
  ]),
  ...under('schema / Tool.outputSchema, CallToolResult.structuredContent', juneAndNovember2025, [
    {
      id: 'S7d',
      level: 'MUST',
      side: 'server',
      says: 'The root of an `outputSchema`, and the structured result, are objects.',
    },
  ]),
  ...under('server/tools / Structured Content', stateless, [
    { id: 'S7e', level: 'MUST', side: 'both', says: 'A structured result may be any JSON value.' },
  ]),
  ...under('server/tools / Error Handling', every, [
    {
      id: 'S8',
      level: 'SHOULD',
      side: 'server',
      says: 'A call of an unknown tool is a protocol error, -32602.',
    },
  ]),
  ...under('schema / CallToolResult.isError', every, [
    {
      id: 'S8b',
      level: 'SHOULD',
      side: 'server',
      says: 'What goes wrong in a tool is a result with `isError`, and no protocol error.',
    },
  ]),
  ...under('server/tools / Error Handling', sinceNovember2025, [
    {
      id: 'S8c',
      level: 'SHOULD',
      side: 'server',
      says: "Arguments that the tool's schema refuses give a result with `isError`.",
    },
    {
      id: 'S8d',
      level: 'SHOULD',
      side: 'client',
      says: 'Errors of tools are shown to the model.',
      beyond: application,
    },
  ]),
  ...under('server/tools / Error Handling', stateless, [
    {
      id: 'S8e',
      level: 'SHOULD',
      side: 'server',
      says: 'A `tools/call` that is not shaped as the protocol says is a protocol error.',
    },
  ]),
  ...under('schema / ContentBlock', sessions, [
    {
      id: 'S9',
      level: 'MUST',
      side: 'server',
      says: 'Kinds of content that the revision does not have are not sent.',
    },
  ]),
  ...under('server/tools / Embedded Resources', sinceJune2025, [
    {
      id: 'S9b',
      level: 'SHOULD',
      side: 'server',
      says: 'A server that embeds resources has the capability `resources`.',
    },
  ]),
  ...under('basic/utilities/tasks / Tool-Level Negotiation', november2025, [
    {
      id: 'S10',
      level: 'MUST',
      side: 'server',
      says: 'A tool whose `taskSupport` is `required` answers a plain call with -32601.',
    },
    {
      id: 'S10b',
      level: 'SHOULD',
      side: 'server',
      says: 'A tool whose `taskSupport` is missing or `forbidden` answers a call as a task with -32601.',
    },
    {
      id: 'S10c',
      level: 'MUST',
      side: 'client',
      says: 'A tool whose `taskSupport` is missing or `forbidden` is not called as a task.',
    },
    {
      id: 'S10d',
      level: 'MUST',
      side: 'client',
      says: 'A tool whose `taskSupport` is `required` is called as a task.',
    },
    {
      id: 'S10e',
      level: 'MUST',
      side: 'client',
      says: 'Without the capability `tasks.requests.tools.call` no tool is called as a task.',
    },
  ]),
  ...under('server/tools / x-mcp-header', stateless, [
    {
      id: 'S11',
      level: 'MUST',
      side: 'server',
      says: 'An `x-mcp-header` is a non-empty token of HTTP, without control characters.',
    },
    {
      id: 'S11b',
      level: 'MUST',
      side: 'server',
      says: 'No two `x-mcp-header` of a schema are equal but for their case.',
    },
    {
      id: 'S11c',
      level: 'MUST',
      side: 'server',
      says: 'An `x-mcp-header` stands only at strings, integers and booleans.',
    },
    {
      id: 'S11d',
      level: 'MUST',
      side: 'server',
      says: 'An `x-mcp-header` stands only where the root leads through `properties` alone.',
    },
    {
      id: 'S11e',
      level: 'SHOULD',
      side: 'server',
      says: 'Secrets have no `x-mcp-header`.',
      beyond: application,
    },
  ]),
  ...under('server/tools / Security Considerations', every, [
    {
      id: 'S12',
      level: 'MUST',
      side: 'server',
      says: 'All arguments of a tool are validated before it runs.',
    },
    {
      id: 'S12b',
      level: 'MUST',
      side: 'server',
      says: 'Who may call which tool is controlled.',
      beyond: application,
    },
    {
      id: 'S12c',
      level: 'MUST',
      side: 'server',
      says: 'The number of calls of tools in a time can be limited.',
    },
    {
      id: 'S12d',
      level: 'MUST',
      side: 'server',
      says: 'What tools return is sanitized.',
      beyond: application,
    },
    {
      id: 'S12e',
      level: 'SHOULD',
      side: 'client',
      says: 'The user sees the arguments first and confirms what is sensitive; calls are logged.',
      beyond: application,
    },
    {
      id: 'S12f',
      level: 'SHOULD',
      side: 'client',
      says: 'Results of tools are checked before the model sees them.',
    },
    { id: 'S12g', level: 'SHOULD', side: 'client', says: 'Calls of tools have a time limit.' },
  ]),
  ...under('server/tools / Security Considerations', stateless, [
    {
      id: 'S12j',
      level: 'SHOULD',
      side: 'client',
      says: 'Checking arguments and results fetches no references of their schemas.',
    },
  ]),
  ...under('server/tools / User Interaction Model', every, [
    {
      id: 'S12i',
      level: 'SHOULD',
      side: 'client',
      says: 'A person can see which tools there are, sees them being called and can refuse.',
      beyond: application,
    },
  ]),
]
