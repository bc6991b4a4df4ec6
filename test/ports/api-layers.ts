import { minifySync, parseSync, Visitor } from 'rolldown/utils'
import { read } from '../sources.ts'

/** The code of a server that talks to the library, as opposed to what the server is about. */
export interface ApiLayer {
  /** Its files. */
  readonly files: readonly string[]
  /** The parts of them that are about the domain: each from a text up to another, which stays. */
  readonly domain?: readonly (readonly [from: string, to: string])[]
}

/** The bytes of a layer: of all of it, and without the contents of strings. */
export interface Bytes {
  readonly all: number
  /** With every string empty: the texts of a server and of its port are the same, and are no code. */
  readonly code: number
}

/** A published server and its port. */
export interface PortedServer {
  readonly package: string
  readonly tools: number
  readonly original: ApiLayer
  readonly port: ApiLayer
}

/** Stands for the end of a file. */
const end = ''

const valid = 'const validPath = await validatePath(args.path);\n'
const entries = '    const entries = await fs.readdir(validPath, { withFileTypes: true });\n'
const everything = '@modelcontextprotocol/server-everything/dist'
const chart = '@antv/mcp-server-chart/build'

/** What the compiler adds to a CommonJS module. */
const helpers = ['var __', 'Object.defineProperty(exports, "__esModule"'] as const

export const portedServers: readonly PortedServer[] = [
  {
    package: '@modelcontextprotocol/server-memory',
    tools: 9,
    original: {
      files: ['@modelcontextprotocol/server-memory/dist/index.js'],
      domain: [
        ['// Define memory file path', '// Initialize memory file path'],
        ['// The KnowledgeGraphManager class', 'let knowledgeGraphManager'],
      ],
    },
    port: { files: ['memory/server.js'] },
  },
  {
    package: '@modelcontextprotocol/server-filesystem',
    tools: 14,
    original: {
      files: ['@modelcontextprotocol/server-filesystem/dist/index.js'],
      domain: [
        ['let allowedDirectories = (await', '// Initialize the global'],
        ['// Reads a file as a stream', '// Tool registrations'],
        [`${valid}    const extension = path.extname`, '// Map the MIME type'],
        [
          `${valid}${entries}    const formatted`,
          'return {\n        content: [{ type: "text", text: formatted',
        ],
        [`${valid}${entries}    // Get detailed`, 'const text = [...formattedEntries'],
        ['async function buildTree', 'const treeData ='],
      ],
    },
    port: { files: ['filesystem/server.js'] },
  },
  {
    package: '@modelcontextprotocol/server-everything',
    tools: 19,
    original: {
      files: [
        'index.js',
        'transports/stdio.js',
        'server/index.js',
        'server/logging.js',
        'server/roots.js',
        'prompts/index.js',
        'prompts/simple.js',
        'prompts/args.js',
        'prompts/completions.js',
        'prompts/resource.js',
        'resources/index.js',
        'resources/files.js',
        'resources/session.js',
        'resources/subscriptions.js',
        'resources/templates.js',
        'tools/index.js',
        'tools/echo.js',
        'tools/get-annotated-message.js',
        'tools/get-env.js',
        'tools/get-resource-links.js',
        'tools/get-resource-reference.js',
        'tools/get-roots-list.js',
        'tools/get-structured-content.js',
        'tools/get-sum.js',
        'tools/get-tiny-image.js',
        'tools/gzip-file-as-resource.js',
        'tools/simulate-research-query.js',
        'tools/toggle-simulated-logging.js',
        'tools/toggle-subscriber-updates.js',
        'tools/trigger-elicitation-request-async.js',
        'tools/trigger-elicitation-request.js',
        'tools/trigger-long-running-operation.js',
        'tools/trigger-sampling-request-async.js',
        'tools/trigger-sampling-request.js',
        'tools/trigger-url-elicitation.js',
      ].map(file => `${everything}/${file}`),
      domain: [
        // The image.
        ['export const MCP_TINY_IMAGE', '// Tool configuration\nconst name = "get-tiny-image"'],
        // Fetching and compressing.
        ['// Maximum input file size', '// Tool input schema\nconst GZipFileAsResourceSchema'],
        ['function validateDataURI', end],
        // The texts of the research.
        ['// Research stages', '// Duration per stage'],
        ['function generateResearchReport', 'export const registerSimulateResearchQueryTool'],
        ['function getInterpretationsForTopic', end],
        // Dynamic resources and documents.
        ['const uriBase =', 'const parseResourceId'],
        ['function getMimeType', end],
        ['export function readInstructions', end],
      ],
    },
    port: {
      files: [
        'main.js',
        'server.js',
        'tools.js',
        'client-tools.js',
        'task-tools.js',
        'asking.js',
        'resources.js',
        'prompts.js',
      ].map(file => `everything/${file}`),
    },
  },
  {
    package: '@antv/mcp-server-chart',
    tools: 27,
    original: {
      files: ['index.js', 'server.js', 'services/stdio.js', 'utils/callTool.js'].map(
        file => `${chart}/${file}`,
      ),
      domain: [helpers],
    },
    port: { files: ['chart/server.js'] },
  },
]

/** Counts a layer, without comments and white space. Throws if a part of the domain is not there. */
export function bytesOf(folder: string, { files, domain = [] }: ApiLayer): Bytes {
  const missing = new Set(domain)
  let all = 0
  let texts = 0
  for (const file of files) {
    let source = read(`${folder}/${file}`)
    for (const part of domain) {
      const from = source.indexOf(part[0])
      if (from === -1) continue
      const to = part[1] === end ? source.length : source.indexOf(part[1], from)
      if (to === -1) throw new Error(`${file} has no "${part[1]}"`)
      source = source.slice(0, from) + source.slice(to)
      missing.delete(part)
    }
    const { code, errors } = minifySync(file, source, { compress: false, mangle: false })
    if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
    all += Buffer.byteLength(code)
    texts += textsIn(file, code)
  }
  if (missing.size > 0) throw new Error(`not found: ${[...missing].join('; ')}`)
  return { all, code: all - texts }
}

/** The bytes of the contents of all strings and templates. */
function textsIn(file: string, code: string): number {
  let bytes = 0
  const count = (text: string): void => {
    bytes += Buffer.byteLength(text)
  }
  new Visitor({
    Literal: ({ value, raw }) => {
      if (typeof value === 'string') count((raw ?? '').slice(1, -1))
    },
    TemplateElement: ({ value }) => count(value.raw),
  }).visit(parseSync(file, code).program)
  return bytes
}
