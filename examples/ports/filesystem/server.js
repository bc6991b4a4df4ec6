// @ts-check
// The server @modelcontextprotocol/server-filesystem with Trunkline. It works on the folders of the command
// line, or on the roots of the client.

import { mkdir } from 'node:fs/promises'
import * as files from '@modelcontextprotocol/server-filesystem/dist/lib.js'
import { getValidRootDirectories } from '@modelcontextprotocol/server-filesystem/dist/roots-utils.js'
import { audio, embed, image, Server, serve } from 'trunkline'
import * as z from 'zod'
import { foldersOf, listing, listingWithSizes, mediaOf, treeOf } from './files.js'

files.setAllowedDirectories(await foldersOf(process.argv.slice(2)))

const server = new Server({ name: 'secure-filesystem-server', version: '0.2.0' })

const useRoots = async (/** @type {import('trunkline/server').Session} */ session) => {
  const folders = await getValidRootDirectories(await session.roots())
  if (folders.length > 0) files.setAllowedDirectories(folders)
}
server.on('roots', useRoots)
server.on('ready', session => session.caller?.capabilities.roots && useRoots(session))

const output = z.object({ content: z.string() })
/**
 * @template T
 * @param {{ content: T }} structured
 */
const text = ({ content }) => content
const reading = { output, text, annotations: { readOnlyHint: true, openWorldHint: false } }
const writing = (/** @type {boolean} */ idempotentHint, destructiveHint = true) => ({
  output,
  text,
  annotations: { readOnlyHint: false, idempotentHint, destructiveHint, openWorldHint: false },
})

const input = z.object({ path: z.string() })
const excludePatterns = z.array(z.string()).default([])
const partial = input.extend({
  tail: z.number().optional().describe('If provided, returns only the last N lines of the file'),
  head: z.number().optional().describe('If provided, returns only the first N lines of the file'),
})

const readText = async (/** @type {z.infer<typeof partial>} */ { path, head, tail }) => {
  const file = await files.validatePath(path)
  if (head && tail) {
    throw new Error('Cannot specify both head and tail parameters simultaneously')
  }
  if (tail) return { content: await files.tailFile(file, tail) }
  return { content: await (head ? files.headFile(file, head) : files.readFileContent(file)) }
}

server.tool(
  'read_file',
  {
    ...reading,
    title: 'Read File (Deprecated)',
    description:
      'Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.',
    input: partial,
  },
  readText,
)

server.tool(
  'read_text_file',
  {
    ...reading,
    title: 'Read Text File',
    description:
      "Read the complete contents of a file from the file system as text. Handles various text encodings and provides detailed error messages if the file cannot be read. Use this tool when you need to examine the contents of a single file. Use the 'head' parameter to read only the first N lines of a file, or the 'tail' parameter to read only the last N lines of a file. Operates on the file as text regardless of extension. Only works within allowed directories.",
    input: partial,
  },
  readText,
)

server.tool(
  'read_media_file',
  {
    ...reading,
    title: 'Read Media File',
    description:
      'Read a file and return it as a base64-encoded content block with its MIME type. Image and audio files are returned as image/audio content; any other file type is returned as an embedded resource. Only works within allowed directories.',
    input,
    output: z.object({
      content: z.array(
        z.union([
          z.object({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string() }),
          z.object({
            type: z.literal('resource'),
            resource: z.object({
              uri: z.string(),
              mimeType: z.string().optional(),
              blob: z.string(),
            }),
          }),
        ]),
      ),
    }),
  },
  async ({ path }) => {
    const { uri, mimeType, blob } = await mediaOf(path)
    const block = mimeType.startsWith('image/')
      ? image(blob, mimeType)
      : mimeType.startsWith('audio/')
        ? audio(blob, mimeType)
        : embed({ uri, mimeType, blob })
    return { content: [block] }
  },
)

server.tool(
  'read_multiple_files',
  {
    ...reading,
    title: 'Read Multiple Files',
    description:
      "Read the contents of multiple files simultaneously. This is more efficient than reading files one by one when you need to analyze or compare multiple files. Each file's content is returned with its path as a reference. Failed reads for individual files won't stop the entire operation. Only works within allowed directories.",
    input: z.object({
      paths: z
        .array(z.string())
        .min(1)
        .describe(
          'Array of file paths to read. Each path must be a string pointing to a valid file within allowed directories.',
        ),
    }),
  },
  async ({ paths }) => {
    const read = paths.map(path =>
      readText({ path }).then(
        ({ content }) => `${path}:\n${content}\n`,
        error => `${path}: Error - ${error.message}`,
      ),
    )
    return { content: (await Promise.all(read)).join('\n---\n') }
  },
)

server.tool(
  'write_file',
  {
    ...writing(true),
    title: 'Write File',
    description:
      'Create a new file or completely overwrite an existing file with new content. Use with caution as it will overwrite existing files without warning. Handles text content with proper encoding. Only works within allowed directories.',
    input: input.extend({ content: z.string() }),
  },
  async ({ path, content }) => {
    await files.writeFileContent(await files.validatePath(path), content)
    return { content: `Successfully wrote to ${path}` }
  },
)

server.tool(
  'edit_file',
  {
    ...writing(false),
    title: 'Edit File',
    description:
      'Make line-based edits to a text file. Each edit replaces exact line sequences with new content. Returns a git-style diff showing the changes made. Only works within allowed directories.',
    input: input.extend({
      edits: z.array(
        z.object({
          oldText: z.string().describe('Text to search for - must match exactly'),
          newText: z.string().describe('Text to replace with'),
        }),
      ),
      dryRun: z.boolean().default(false).describe('Preview changes using git-style diff format'),
    }),
  },
  async ({ path, edits, dryRun }) => ({
    content: await files.applyFileEdits(await files.validatePath(path), edits, dryRun),
  }),
)

server.tool(
  'create_directory',
  {
    ...writing(true, false),
    title: 'Create Directory',
    description:
      'Create a new directory or ensure a directory exists. Can create multiple nested directories in one operation. If the directory already exists, this operation will succeed silently. Perfect for setting up directory structures for projects or ensuring required paths exist. Only works within allowed directories.',
    input,
  },
  async ({ path }) => {
    await mkdir(await files.validatePath(path), { recursive: true })
    return { content: `Successfully created directory ${path}` }
  },
)

server.tool(
  'list_directory',
  {
    ...reading,
    title: 'List Directory',
    description:
      'Get a detailed listing of all files and directories in a specified path. Results clearly distinguish between files and directories with [FILE] and [DIR] prefixes. This tool is essential for understanding directory structure and finding specific files within a directory. Only works within allowed directories.',
    input,
  },
  async ({ path }) => ({ content: await listing(path) }),
)

server.tool(
  'list_directory_with_sizes',
  {
    ...reading,
    title: 'List Directory with Sizes',
    description:
      'Get a detailed listing of all files and directories in a specified path, including sizes. Results clearly distinguish between files and directories with [FILE] and [DIR] prefixes. This tool is useful for understanding directory structure and finding specific files within a directory. Only works within allowed directories.',
    input: input.extend({
      sortBy: z.enum(['name', 'size']).default('name').describe('Sort entries by name or size'),
    }),
  },
  async ({ path, sortBy }) => ({
    content: await listingWithSizes(path, sortBy),
  }),
)

server.tool(
  'directory_tree',
  {
    ...reading,
    title: 'Directory Tree',
    description:
      "Get a recursive tree view of files and directories as a JSON structure. Each entry includes 'name', 'type' (file/directory), and 'children' for directories. Files have no children array, while directories always have a children array (which may be empty). The output is formatted with 2-space indentation for readability. Only works within allowed directories.",
    input: input.extend({ excludePatterns }),
  },
  async ({ path, excludePatterns }) => ({
    content: JSON.stringify(await treeOf(path, excludePatterns), null, 2),
  }),
)

server.tool(
  'move_file',
  {
    ...writing(false),
    title: 'Move File',
    description:
      'Move or rename files and directories. Can move files between directories and rename them in a single operation. If the destination exists, the operation will fail. Works across different directories and can be used for simple renaming within the same directory. Both source and destination must be within allowed directories.',
    input: z.object({ source: z.string(), destination: z.string() }),
  },
  async ({ source, destination }) => {
    await files.moveFile(await files.validatePath(source), await files.validatePath(destination))
    return { content: `Successfully moved ${source} to ${destination}` }
  },
)

server.tool(
  'search_files',
  {
    ...reading,
    title: 'Search Files',
    description:
      "Recursively search for files and directories matching a pattern. The patterns should be glob-style patterns that match paths relative to the working directory. Use pattern like '*.ext' to match files in current directory, and '**/*.ext' to match files in all subdirectories. Returns full paths to all matching items. Great for finding files when you don't know their exact location. Only searches within allowed directories.",
    input: input.extend({ pattern: z.string(), excludePatterns }),
  },
  async ({ path, pattern, excludePatterns }) => {
    const found = await files.searchFilesWithValidation(
      await files.validatePath(path),
      pattern,
      files.getAllowedDirectories(),
      { excludePatterns },
    )
    return { content: found.join('\n') || 'No matches found' }
  },
)

server.tool(
  'get_file_info',
  {
    ...reading,
    title: 'Get File Info',
    description:
      'Retrieve detailed metadata about a file or directory. Returns comprehensive information including size, creation time, last modified time, permissions, and type. This tool is perfect for understanding file characteristics without reading the actual content. Only works within allowed directories.',
    input,
  },
  async ({ path }) => {
    const info = await files.getFileStats(await files.validatePath(path))
    const lines = Object.entries(info).map(([key, value]) => `${key}: ${value}`)
    return { content: lines.join('\n') }
  },
)

server.tool(
  'list_allowed_directories',
  {
    ...reading,
    title: 'List Allowed Directories',
    description:
      'Returns the list of directories that this server is allowed to access. Subdirectories within these allowed directories are also accessible. Use this to understand which directories and their nested paths are available before trying to access files.',
    input: z.object({}),
  },
  () => ({ content: `Allowed directories:\n${files.getAllowedDirectories().join('\n')}` }),
)

await serve(server)
