import { checkOptions, type OptionTableOf } from '../../util/options.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { Deadlines } from '../../util/time/deadline.ts'
import type { Backplane } from '../backplane.ts'
import { closedError } from '../backplane-error.ts'
import { checkCluster } from '../input-checks.ts'
import { remoteBackplane } from '../remote/backplane.ts'
import type { Bucket, SlotLease } from '../rules/rates.ts'
import type { Roster } from '../rules/roster.ts'
import { NatsBus } from './bus.ts'
import { Documents, jsonTexts } from './documents.ts'
import { natsAddress } from './engine/address.ts'
import { NatsConnection } from './engine/connection.ts'
import { EngineLife } from './engine/engine-life.ts'
import { streamChecks } from './engine/engine-settings.ts'
import { EngineTime } from './engine/engine-time.ts'
import { loadNats } from './engine/node-connection.ts'
import type { OpenNats } from './engine/raw-connection.ts'
import { isHopelessError } from './engine/reply-errors.ts'
import { natsSubjects } from './engine/subjects.ts'
import { NatsLog } from './log.ts'
import { logTexts } from './log-messages.ts'
import { NatsMembership } from './membership.ts'
import { nameSetTexts } from './name-sets.ts'
import { NatsRates } from './rates.ts'
import { recordTexts } from './record-texts.ts'
import { NatsStore } from './store.ts'
import { Sweeper } from './sweeper.ts'

/** Options of `nats`. */
export interface NatsOptions {
  /** The name of the cluster; several clusters can share an engine. `trunkline` by default. */
  readonly cluster?: string
  /** Called with settings of the engine that endanger the data or are too small; ignored by default. */
  readonly onWarning?: (warning: Error) => void
  /** The clock of deadlines; the system's by default. */
  readonly clock?: Clock
}

const natsOptionTable: OptionTableOf<NatsOptions> = {
  cluster: 'string',
  onWarning: 'function',
  clock: 'object',
}

/**
 * Creates a backplane in NATS 2.9 or newer with JetStream, at a URL such as `nats://10.0.0.9:4222`,
 * `tls://user:password@host:4222` or `nats://a,b,c`. It needs the package `@nats-io/transport-node`, and uses three
 * connections. Every operation settles within `engineMs`, whatever state the engine is in.
 */
export function nats(url: string, options: NatsOptions = {}): Backplane {
  checkOptions(options, natsOptionTable)
  const { cluster = 'trunkline', onWarning, clock = systemClock } = options
  checkCluster(cluster)
  const address = natsAddress(url)
  const { name } = address
  const subjects = natsSubjects(cluster)
  let dial: OpenNats | undefined
  const open: OpenNats = onLost => {
    if (dial === undefined) throw closedError(name)
    return dial(onLost)
  }

  return remoteBackplane(name, clock, ({ onUp, onDown, onProgress, onEmptied }) => {
    const nothing = () => {}
    const common = { name, clock, open, onDown: nothing, onFailedAttempt: onProgress }
    const time = new EngineTime(subjects)
    const life = new EngineLife(subjects, onEmptied)
    const check = streamChecks(subjects, onWarning)
    const connection = new NatsConnection({
      ...common,
      prepare: async run => {
        await check(run)
        await life.check(run)
        await time.measure(run)
      },
      onUp: () => {
        sweeper.start()
        onUp()
      },
      onDown,
    })
    const heartbeats = new NatsConnection({
      ...common,
      prepare: async run => {
        await check(run)
        await life.check(run)
      },
      onUp: onProgress,
    })
    const messages: NatsConnection = new NatsConnection({
      ...common,
      prepare: run => bus.prepare(run),
      onUp: () => {
        bus.onUp()
        onProgress()
      },
    })
    const bus: NatsBus = new NatsBus({ subjects, clock, connection: messages })
    const timing = { time, clock }
    const deadlines = new Deadlines(clock)
    const shared = { time, deadlines, connection, stream: subjects.documents }
    const records = new Documents({ ...shared, codec: recordTexts })
    const sets = new Documents({ ...shared, codec: nameSetTexts })
    const buckets = new Documents({ ...shared, codec: jsonTexts<Bucket>() })
    const slots = new Documents({ ...shared, codec: jsonTexts<readonly SlotLease[]>() })
    const turns = new Documents({ ...shared, codec: jsonTexts<null>() })
    const roster = new Documents({ ...shared, connection: heartbeats, codec: jsonTexts<Roster>() })
    const logs = new Documents({ ...shared, stream: subjects.logs, codec: logTexts })
    const log = new NatsLog({ clock, connection, documents: logs, subjects })
    const sweeper: Sweeper = new Sweeper({ ...timing, connection, turns, subjects })
    return {
      connections: [connection, heartbeats, messages],
      load: async () => {
        dial = (await loadNats())(address)
      },
      isHopeless: isHopelessError,
      close: () => {
        bus.close()
        sweeper.close()
        deadlines.rest()
      },
      membership: new NatsMembership({
        documents: roster,
        subjects,
        checkLife: () => life.check(command => heartbeats.run(command)),
      }),
      store: new NatsStore({ ...timing, records, sets, subjects, log }),
      log,
      bus,
      rates: new NatsRates({ buckets, slots, subjects }),
    }
  })
}
