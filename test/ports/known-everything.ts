import { absent } from './compare.ts'
import { type KnownDifference, kindOf } from './known-difference.ts'

/** The differences that only the everything server shows. */
export const everythingDifferences: readonly KnownDifference[] = [
  {
    what: 'a prompt',
    original: 'as the handler returns it; the description of an optional argument is lost',
    port: 'with its description',
    because: 'what the author wrote reaches the client',
    places: {
      everything: [
        ['*-prompt*:.response.result.description', absent, /^(A prompt|First argument choice)/],
        ['prompts/list:*.arguments.1.description', absent, 'Name of the state'],
      ],
    },
  },
  {
    what: 'invalid arguments of a prompt',
    original: '-32603 from the handler',
    port: '-32602 from the schema',
    because: 'the specification',
    places: {
      everything: [
        ['resource-prompt*:*.code', -32603, -32602],
        [
          'resource-prompt*:*.message',
          /^Invalid resource(Id|Type): /,
          /^Invalid arguments for prompt "resource-prompt": resource(Id|Type): /,
        ],
        kindOf('resource-prompt*', 'invalid_prompt_arguments'),
      ],
    },
  },
  {
    what: 'a completion without suggestions',
    original: 'no `total`',
    port: '`total: 0`',
    because: 'the number is known',
    places: { everything: [['complete city*.completion.total', absent, 0]] },
  },
  {
    what: 'notifications of changed lists',
    original: 'one for each change',
    port: 'one for changes that come together',
    because: 'the client reads the whole list again anyway',
    places: {
      everything: [
        [
          'gzip-file-as-resource*again*:.sent.1',
          { method: 'notifications/resources/list_changed' },
          absent,
        ],
      ],
    },
  },
  {
    what: 'tools that need an ability of the client',
    original: 'registered after `initialize`, each with a notification',
    port: '`visible`, from the first list on',
    because: 'one server serves all clients',
    places: {
      everything: [['initialize:.sent.0', { method: 'notifications/tools/list_changed' }, absent]],
      'everything, capable client': [
        ['initialize:.sent.*', { method: 'notifications/tools/list_changed' }, absent],
      ],
    },
  },
  {
    what: 'files of a session',
    original: 'resources of a server for each session',
    port: 'resources of a template, listed for each session',
    because: 'one server serves all sessions',
    places: {
      everything: [
        ['resources/templates/list:*.resourceTemplates.2', absent, /"name":"Session File"/],
      ],
    },
  },
  {
    what: 'the id of a session on stdio',
    original: '"session undefined"',
    port: 'a random id',
    because: 'sessions have an id on every transport',
    places: {
      everything: [
        ['toggle-*:.response.result.content.0.text', /for session undefined/, /for session ID/],
      ],
    },
  },
  {
    what: 'a form',
    original: 'without `mode`',
    port: '`mode: form`',
    because: 'both mean the same',
    places: {
      'everything, capable client': [
        ['*-elicitation-request*:.sent.0.params.mode', absent, 'form'],
        ['research*:.asked.0.params.mode', absent, 'form'],
      ],
    },
  },
  {
    what: 'defaults of a form',
    original: 'fields that the user leaves out stay out',
    port: 'filled in',
    because: 'handlers get what the schema promises',
    places: {
      'everything, capable client': [
        [
          'trigger-elicitation-request accept {"name":"Ada"}:*.text',
          /- Name: Ada$|"name": "Ada"\n {2}\}/,
          /Favorite Number: 3.14|"integer": 42/,
        ],
      ],
    },
  },
  {
    what: 'members of a sampled message',
    original: 'in the order of the SDK',
    port: 'in the order of the client',
    because: 'answers are passed on as they are',
    places: {
      'everything, capable client': [
        [
          'trigger-sampling-request {*:.response.result.content.0.text',
          /^LLM sampling result: \n\{\n {2}"model"/,
          /^LLM sampling result: \n\{\n {2}"role"/,
        ],
      ],
    },
  },
  {
    what: 'requests that the client answers as tasks',
    original: 'the text shows the polls',
    port: 'the text shows the answer',
    because: 'a handler awaits the answer, and Trunkline polls',
    places: {
      'everything, capable client': [
        ['*-async*.text', /Progress:.*\nTask created: /, /^((?!Progress)[\s\S])*$/],
      ],
    },
  },
  {
    what: 'a tool that must run as a task, called without one',
    original: 'a result with `isError`',
    port: '-32601',
    because: 'the specification',
    places: {
      'everything, capable client': [
        ['simulate-research-query*:.response.result', /requires task augmentation/, absent],
        ['simulate-research-query*:.response.error', absent, /^\{"code":-32601,/],
      ],
    },
  },
  {
    what: 'tasks',
    original: 'the first status message is in the created task; `_meta` is empty',
    port: 'the task is created before its handler runs; no `_meta`',
    because: 'the handler gets the task',
    places: {
      'everything, capable client': [
        ['research*:.created.result.task.statusMessage', 'Gathering sources...', absent],
        ['research*:.*.result._meta', {}, absent],
        ['research*Python*:.said.working: Found multiple*', absent, true],
      ],
    },
  },
  {
    what: 'the result of a cancelled task',
    original: '-32603, "has no result stored"',
    port: '"Task cancelled", with `data.kind`',
    because: 'the outcome is known',
    places: {
      'everything, capable client': [
        ['research that is cancelled:.cancelled.result.statusMessage', /^Client cancelled/, absent],
        ['research that is cancelled:.result.error.code', -32603, -32084],
        ['research that is cancelled:.result.error.message', /no result stored$/, 'Task cancelled'],
        ['research that is cancelled:.result.error.data', absent, /"kind":"task_cancelled"/],
      ],
    },
  },
]
