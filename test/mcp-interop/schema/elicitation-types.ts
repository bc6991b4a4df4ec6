import { isBefore } from '../driver.ts'
import {
  anything,
  boolean,
  either,
  integer,
  list,
  type Members,
  map,
  neededSince,
  number,
  object,
  optional,
  primitiveValue,
  since,
  string,
  tagged,
  uri,
  word,
} from './shape.ts'
import { taskMetadata, tasksRevision } from './types.ts'

// The types of elicitation, in all revisions.

const field = {
  title: optional(string),
  description: optional(string),
  default: since('2025-11-25', anything),
} as const

const choice = object({ const: string, title: string })

/** One field of a form. */
export const formField = tagged('type', {
  boolean: object({ ...field, type: word('boolean'), default: optional(boolean) }),
  string: object({
    ...field,
    type: word('string'),
    format: optional(word('email', 'uri', 'date', 'date-time')),
    minLength: optional(integer),
    maxLength: optional(integer),
    enum: optional(list(string)),
    enumNames: optional(list(string)),
    oneOf: since('2025-11-25', list(choice)),
  }),
  number: object({
    ...field,
    type: word('number'),
    minimum: optional(number),
    maximum: optional(number),
  }),
  integer: object({
    ...field,
    type: word('integer'),
    minimum: optional(number),
    maximum: optional(number),
  }),
  array: since(
    '2025-11-25',
    object({
      ...field,
      type: word('array'),
      minItems: optional(integer),
      maxItems: optional(integer),
      items: either(
        object({ type: word('string'), enum: list(string) }),
        object({ anyOf: list(choice) }),
      ),
    }),
  ),
})

export const formMembers = {
  message: string,
  mode: since('2025-11-25', word('form')),
  requestedSchema: object({
    $schema: since('2025-11-25', string),
    type: word('object'),
    properties: map(formField),
    required: optional(list(string)),
  }),
  task: taskMetadata,
} as const satisfies Members

export const visitMembers = {
  message: string,
  mode: word('url'),
  url: uri,
  elicitationId: neededSince(tasksRevision, string, tasksRevision),
  task: taskMetadata,
} as const satisfies Members

export const elicitResultMembers = {
  action: word('accept', 'decline', 'cancel'),
  content: optional(
    map((value, place) => {
      const isList = Array.isArray(value) && !isBefore(place.revision, '2025-11-25')
      const shape = isList ? list(string) : primitiveValue
      shape(value, place)
    }),
  ),
} as const satisfies Members
