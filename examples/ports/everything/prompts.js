// @ts-check
// The prompts, with completion.

import { embed } from 'trunkline'
import * as z from 'zod'
import { isId, kind, resourceOf } from './dynamic.js'
import { server } from './server.js'

/** @type {Readonly<Record<string, readonly string[]>>} */
const teams = {
  Engineering: ['Alice', 'Bob', 'Charlie'],
  Sales: ['David', 'Eve', 'Frank'],
  Marketing: ['Grace', 'Henry', 'Iris'],
  Support: ['John', 'Kim', 'Lee'],
}
/**
 * @param {readonly string[]} values
 * @param {string} typed
 */
const startingWith = (values, typed) => values.filter(value => value.startsWith(typed))

server.prompt(
  'simple-prompt',
  { title: 'Simple Prompt', description: 'A prompt with no arguments' },
  () => 'This is a simple prompt without arguments.',
)

server.prompt(
  'args-prompt',
  {
    title: 'Arguments Prompt',
    description: 'A prompt with two arguments, one required and one optional',
    args: z.object({
      city: z.string().describe('Name of the city'),
      state: z.string().describe('Name of the state').optional(),
    }),
  },
  ({ city, state }) => `What's weather in ${state ? `${city}, ${state}` : city}?`,
)

server.prompt(
  'completable-prompt',
  {
    title: 'Team Management',
    description: 'First argument choice narrows values for second argument.',
    args: z.object({
      department: z.string().describe('Choose the department.'),
      name: z.string().describe('Choose a team member to lead the selected department.'),
    }),
    complete: {
      department: typed => startingWith(Object.keys(teams), typed),
      name: (typed, { arguments: { department = '' } }) =>
        startingWith(teams[department] ?? [], typed),
    },
  },
  ({ department, name }) => `Please promote ${name} to the head of the ${department} team.`,
)

server.prompt(
  'resource-prompt',
  {
    title: 'Resource Prompt',
    description: 'A prompt that includes an embedded resource reference',
    args: z.object({
      resourceType: kind.describe('Type of resource to fetch'),
      resourceId: z
        .string()
        .refine(isId, 'Must be a finite positive integer')
        .describe('ID of the text resource to fetch'),
    }),
    complete: {
      resourceType: typed => startingWith(kind.options, typed),
      resourceId: typed => (isId(typed) ? [typed] : []),
    },
  },
  ({ resourceType, resourceId }) => [
    `This prompt includes the ${resourceType} resource with id: ${resourceId}. Please analyze the following resource:`,
    embed(resourceOf(resourceType, resourceId)),
  ],
)
