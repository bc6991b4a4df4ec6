import { type Revision, revisions, stateless } from './driver.ts'
import { answered, type Outcome, refused, ruleFor, type Step } from './outcome.ts'

/** Where one package differs from the rule: which step, in which revisions, and what comes of it. */
export interface Exception {
  readonly step: string
  /** All of the package's, unless they are named. */
  readonly revisions?: readonly Revision[]
  readonly outcome: Outcome
  /** Why, in words. */
  readonly because: string
}

/** What a server or a client can do. A step that is named nowhere must go by the rule. */
export interface Capabilities {
  /** The revisions it can be made to speak. */
  readonly revisions: readonly Revision[]
  /** It answers in every session revision as the rule has it for this one. */
  readonly sessionsLike?: Revision
  readonly exceptions: readonly Exception[]
}

const sessions = revisions.filter(revision => revision !== stateless)

const looseLevels: Exception = {
  step: 'a log level that does not exist is refused',
  revisions: sessions,
  outcome: refused(-32603),
  because: 'the package takes params of the wrong shape for a failure of its own',
}

const notBySpec = 'the package answers with one number in all revisions'

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
        step: 'wrong arguments are refused, and later told to the model',
        revisions: ['2025-06-18'],
        outcome: answered({ isError: true }),
        because: 'the package tells the model in every revision',
      },
      {
        step: 'a tool that does not exist is refused',
        outcome: answered({ isError: true }),
        because: 'the package makes a result of it',
      },
      {
        step: 'a tool that throws gives an error result with its words',
        outcome: refused(-32603),
        because: 'the package takes it for a failure of its own',
      },
      {
        step: 'a log level that does not exist is refused',
        revisions: ['2025-06-18'],
        outcome: answered({}),
        because: 'the package does not look at it',
      },
      {
        step: 'a cursor that nobody gave out is refused',
        outcome: answered({ resources: [] }),
        because: 'the package gives an empty page',
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
        because: 'the package answers without a completion, and our client will not have that',
      },
      {
        step: 'the roots of the client are asked for',
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
        because: 'the package makes one error of its own of both numbers',
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

/** What each server of the fixture and each client can do, by name: another one is another row. */
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

/** What must come of a step in a cell: the client's exception, else the server's, else the rule. */
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
