import type { Prompt } from '../../mcp/types/prompts.ts'
import type { Tool } from '../../mcp/types/tools.ts'
import { commentText, memberName, typescriptOf } from './typescript.ts'

/** What a server lists, and its name. */
export interface ListedFeatures {
  readonly server: { readonly name: string; readonly version: string }
  readonly tools: readonly Tool[]
  readonly prompts: readonly Prompt[]
}

/** Returns a module with the interfaces `Tools` and `Prompts` for `connect<Tools, Prompts>`. */
export function interfacesOf({ server, tools, prompts }: ListedFeatures): string {
  const about = commentText(
    `The tools of ${server.name} ${server.version}, as \`trunkline types\` has read them.`,
    '',
  )
  const toolTexts = tools.map(tool => {
    const { name, description, inputSchema, outputSchema } = tool
    const comment = commentText(description, '  ')
    const input = nested(typescriptOf(inputSchema))
    const output = nested(outputSchema === undefined ? 'unknown' : typescriptOf(outputSchema))
    return `${comment}  ${memberName(name)}: {\n    input: ${input}\n    output: ${output}\n  }\n`
  })
  const promptTexts = prompts.map(({ name, description, arguments: args = [] }) => {
    const members = args.map(arg => {
      const comment = commentText(arg.description, '    ')
      return `${comment}    ${memberName(arg.name)}${arg.required ? '' : '?'}: string\n`
    })
    const type = members.length === 0 ? 'Record<string, never>' : `{\n${members.join('')}  }`
    return `${commentText(description, '  ')}  ${memberName(name)}: ${type}\n`
  })
  return [
    `${about}export interface Tools {\n${toolTexts.join('')}}\n`,
    `/** The prompts of the same server. */\nexport interface Prompts {\n${promptTexts.join('')}}\n`,
  ].join('\n')
}

function nested(type: string): string {
  return type.replaceAll('\n', '\n    ')
}
