// The hosts: programs and libraries that use MCP servers. Each script in hosts/ starts the server that its
// arguments name, lists its tools and calls one of them, with the host's own code.

/**
 * `packages`: the first is the host, the rest is what it needs. `setUp`: its own script that puts its binary in
 * place, from a package that npm has installed.
 */
export const hosts = [
  {
    name: 'official-sdk-1',
    title: 'Official SDK 1.x client',
    packages: ['@modelcontextprotocol/sdk@1.32.2'],
  },
  {
    name: 'official-sdk-2',
    title: 'Official SDK 2.x client',
    packages: ['@modelcontextprotocol/client@2.4.0'],
  },
  {
    name: 'inspector',
    title: 'MCP Inspector, command line',
    packages: ['@modelcontextprotocol/inspector@2.12.0'],
  },
  { name: 'mcporter', title: 'mcporter', packages: ['mcporter@0.12.3'] },
  {
    name: 'langchain',
    title: 'LangChain',
    packages: [
      '@langchain/mcp-adapters@1.1.4',
      '@langchain/core@1.2.13',
      '@langchain/langgraph@1.4.16',
    ],
  },
  { name: 'ai-sdk', title: 'AI SDK', packages: ['@ai-sdk/mcp@2.0.96', 'zod@4.6.7'] },
  {
    name: 'mastra',
    title: 'Mastra',
    packages: ['@mastra/mcp@1.18.0', '@mastra/core@1.68.0', 'zod@4.6.7'],
  },
  {
    name: 'openai-agents',
    title: 'OpenAI Agents',
    packages: ['@openai/agents@0.20.0', 'zod@4.6.7'],
  },
  {
    name: 'llamaindex',
    title: 'LlamaIndex',
    packages: ['@llamaindex/tools@0.2.1', '@llamaindex/core@0.6.23', 'zod@4.6.7'],
  },
  {
    name: 'genkit',
    title: 'Genkit',
    packages: ['@genkit-ai/mcp@1.42.0', 'genkit@1.42.0', '@modelcontextprotocol/sdk@1.32.2'],
  },
  {
    name: 'google-adk',
    title: 'Google ADK',
    packages: ['@google/adk@2.0.0', '@modelcontextprotocol/sdk@1.32.2'],
  },
  {
    name: 'google-genai',
    title: 'Google Gen AI SDK',
    packages: ['@google/genai@2.32.0', '@modelcontextprotocol/sdk@1.32.2'],
  },
  {
    name: 'claude-code',
    title: 'Claude Code',
    packages: ['@anthropic-ai/claude-code@2.1.325'],
    setUp: 'install.cjs',
  },
  { name: 'gemini-cli', title: 'Gemini CLI', packages: ['@google/gemini-cli@0.61.0'] },
  {
    name: 'opencode',
    title: 'opencode',
    packages: ['opencode-ai@1.18.33'],
    setUp: 'postinstall.mjs',
  },
  { name: 'qwen-code', title: 'Qwen Code', packages: ['@qwen-code/qwen-code@0.24.4'] },
  {
    name: 'strands',
    title: 'Strands Agents',
    packages: [
      '@strands-agents/sdk@1.19.0',
      '@opentelemetry/api@1.10.0',
      '@modelcontextprotocol/sdk@1.32.2',
    ],
  },
  {
    name: 'beeai',
    title: 'BeeAI',
    packages: ['beeai-framework@0.1.30', 'zod@3.25.76', '@modelcontextprotocol/sdk@1.32.2'],
  },
  {
    name: 'voltagent',
    title: 'VoltAgent',
    packages: ['@voltagent/core@2.10.0', 'ai@7.0.169', 'zod@4.6.7'],
  },
  {
    name: 'tanstack-ai',
    title: 'TanStack AI',
    packages: ['@tanstack/ai-mcp@0.2.5', '@tanstack/ai@0.58.0'],
  },
]
