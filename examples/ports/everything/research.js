// @ts-check
// The texts of the simulated research, as the published server sends them.

export const stages = [
  'Gathering sources',
  'Analyzing content',
  'Synthesizing findings',
  'Generating report',
]

/** @param {string} topic */
export function interpretationsOf(topic) {
  if (topic.toLowerCase().includes('python')) {
    return [
      { const: 'programming', title: 'Python programming language' },
      { const: 'snake', title: 'Python snake species' },
      { const: 'comedy', title: 'Monty Python comedy group' },
    ]
  }
  return [
    { const: 'technical', title: 'Technical/scientific perspective' },
    { const: 'historical', title: 'Historical perspective' },
    { const: 'current', title: 'Current events/news perspective' },
  ]
}

/**
 * @param {string} topic
 * @param {string} [clarification]
 */
export function reportOf(topic, clarification) {
  const isFallback = clarification?.includes('unavailable')
  return `# Research Report: ${clarification ? `${topic} (${clarification})` : topic}

## Research Parameters
- **Topic**: ${topic}
${clarification ? `- **Clarification**: ${clarification}` : ''}

## Synthesis
This research query was processed through ${stages.length} stages:
${stages.map((stage, at) => `- Stage ${at + 1}: ${stage} ✓`).join('\n')}

---

## About This Demo (SEP-1686: Tasks)

This tool demonstrates MCP's task-based execution pattern for long-running operations:

**Task Lifecycle Demonstrated:**
1. \`tools/call\` with \`task\` parameter → Server returns \`CreateTaskResult\` (not the final result)
2. Client polls \`tasks/get\` → Server returns current status and \`statusMessage\`
3. Status progressed: \`working\` → ${clarification ? '`input_required` → `working` → ' : ''}\`completed\`
4. Client calls \`tasks/result\` → Server returns this final result

${
  clarification
    ? `**Elicitation Flow:**
When the query was ambiguous, the server sent an \`elicitation/create\` request
to the client. The task status changed to \`input_required\` while awaiting user input.
${
  isFallback
    ? '**Note:** Elicitation failed and a default interpretation was used.'
    : `After receiving clarification ("${clarification}"), the task resumed processing and completed.`
}
`
    : ''
}
**Key Concepts:**
- Tasks enable "call now, fetch later" patterns
- \`statusMessage\` provides human-readable progress updates
- Tasks have TTL (time-to-live) for automatic cleanup
- \`pollInterval\` suggests how often to check status
- Elicitation requests use \`relatedTask\` to queue via tasks/result (works on all transports)

*This is a simulated research report from the Everything MCP Server.*
`
}
