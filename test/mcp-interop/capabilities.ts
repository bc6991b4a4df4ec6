import { type Revision, revisions, stateless } from './driver.ts'
import { answered, type Outcome, refused, ruleFor, type Step } from './outcome.ts'

/** A deviation of one package from the rule: the step, the revisions, and the outcome. */
export interface Exception {
  readonly step: string
  /** All revisions of the package by default. */
  readonly revisions?: readonly Revision[]
  readonly outcome: Outcome
  /** The reason. */
  readonly because: string
}

/** The abilities of a server or a client. A step without an exception must follow the rule. */
export interface Capabilities {
  /** The revisions it can be made to speak. */
  readonly revisions: readonly Revision[]
  /** It answers in every session revision as the rule says for this one. */
  readonly sessionsLike?: Revision
  readonly exceptions: readonly Exception[]
}

const sessions = revisions.filter(revision => revision !== stateless)

const looseLevels: Exception = {
  step: 'a log level that does not exist is refused',
  revisions: sessions,
  outcome: refused(-32603),
  because: 'the package reports invalid params as an internal error',
}

const notBySpec = 'the package uses one error code in all revisions'

const servers = {
  ours: { revisions, exceptions: [] },
  sdk1: {
    revisions: sessions,
    sessionsLike: '2025-11-25',
    exceptions: [
      looseLevels,
      {
        step: 'a tool that does not exist is refused',
        outcome: answered({ isError: true }),
        because: 'the package turns every failure of a call into a result',
      },
      {
        step: 'a resource that does not exist is refused',
        outcome: refused(-32602),
        because: notBySpec,
      },
    ],
  },
  sdk2: {
    revisions,
    sessionsLike: '2025-11-25',
    exceptions: [
      looseLevels,
      {
        step: 'a resource that does not exist is refused',
        revisions: sessions,
        outcome: refused(-32602),
        because: notBySpec,
      },
    ],
  },
  tmcp: {
    revisions: ['2025-06-18', stateless],
    exceptions: [
      {
        step: 'wrong arguments are refused, in later revisions as a tool error',
        revisions: ['2025-06-18'],
        outcome: answered({ isError: true }),
        because: 'the package returns it as a tool error in every revision',
      },
      {
        step: 'a tool that does not exist is refused',
        outcome: answered({ isError: true }),
        because: 'the package makes a result of it',
      },
      {
        step: 'a tool that throws gives an error result with its words',
        outcome: refused(-32603),
        because: 'the package reports it as an internal error',
      },
      {
        step: 'a log level that does not exist is refused',
        revisions: ['2025-06-18'],
        outcome: answered({}),
        because: 'the package does not check it',
      },
      {
        step: 'an unknown cursor is refused',
        outcome: answered({ resources: [] }),
        because: 'the package returns an empty page',
      },
      {
        step: 'a resource that does not exist is refused',
        revisions: ['2025-06-18'],
        outcome: refused(-32602),
        because: notBySpec,
      },
      {
        step: 'the completion of a prompt that does not exist is refused',
        outcome: refused('framing', 'client'),
        because: 'the package answers without a completion, which our client rejects',
      },
      {
        step: 'the roots of the client are requested',
        revisions: [stateless],
        outcome: refused(-32603),
        because: 'the package asks for roots in sessions only',
      },
    ],
  },
} as const satisfies Record<string, Capabilities>

const drivers = {
  ours: {
    revisions,
    exceptions: [
      {
        step: 'a ping is answered in the revisions that have it',
        revisions: [stateless],
        outcome: refused('refused', 'client'),
        because: 'the client does not send a ping where the revision has none',
      },
    ],
  },
  sdk1: { revisions: sessions, exceptions: [] },
  sdk2: {
    revisions,
    exceptions: [
      {
        step: 'a resource that does not exist is refused',
        revisions: sessions,
        outcome: refused(-32602),
        because: 'the package maps both codes to one error of its own',
      },
      {
        step: 'a ping is answered in the revisions that have it',
        revisions: [stateless],
        outcome: refused('METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION', 'client'),
        because: 'the package does not send what the revision does not have',
      },
      {
        step: 'a log level that does not exist is refused',
        revisions: [stateless],
        outcome: refused('METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION', 'client'),
        because: 'the package does not send what the revision does not have',
      },
    ],
  },
} as const satisfies Record<string, Capabilities>

/** The abilities of each fixture server and each client, by name. */
export const capabilitiesOf = { servers, drivers }

/** A server of the fixture: `server-<name>.js`. */
export type ServerName = keyof typeof servers
/** A client: one line in `cells.ts`. */
export type DriverName = keyof typeof drivers

/** A client, a server, and the revision they speak. */
export interface Cell {
  readonly driver: DriverName
  readonly server: ServerName
  readonly revision: Revision
}

/** The expected outcome of a step in a cell: the exception of the client, or of the server, or the rule. */
export function expectedOf(step: Step, { driver, server, revision }: Cell): Outcome {
  const client: Capabilities = drivers[driver]
  const served: Capabilities = servers[server]
  const exception = [...client.exceptions, ...served.exceptions].find(
    ({ step: name, revisions: only }) =>
      name === step.name && (only === undefined || only.includes(revision)),
  )
  if (exception !== undefined) return exception.outcome
  const isLike = revision !== stateless && served.sessionsLike !== undefined
  return ruleFor(step, isLike ? (served.sessionsLike ?? revision) : revision)
}
