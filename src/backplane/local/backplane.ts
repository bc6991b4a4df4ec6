import type { Backplane } from '../backplane.ts'
import { closedError } from '../backplane-error.ts'
import { checkedParts } from '../checked-parts.ts'
import type { MessageBus } from '../message-bus.ts'
import { StateListeners } from '../state-listeners.ts'
import type { LocalEngine } from './engine.ts'
import { LocalLog } from './log.ts'
import { LocalMembership } from './membership.ts'
import { LocalRates } from './rates.ts'
import { LocalStore } from './store.ts'

/** What a backplane in this process is made of. */
export interface LocalBackplaneParts {
  readonly name: string
  readonly isShared: boolean
  readonly engine: LocalEngine
  readonly bus: MessageBus
  /** Ends what the engine and the bus hold. Called once. */
  close(): void
}

/** Makes a backplane of a local engine, usable until it is closed. `make` gets a function that throws from then on. */
export function localBackplane(make: (checkUsable: () => void) => LocalBackplaneParts): Backplane {
  const listeners = new StateListeners()
  let isOpen = true
  const checkUsable = () => {
    if (!isOpen) throw closedError(made.name)
  }
  const made = make(checkUsable)
  const { name, isShared, bus } = made
  const engine: LocalEngine = {
    ...made.engine,
    run: async operation => {
      checkUsable()
      return made.engine.run(operation)
    },
    runGrowing: async operation => {
      checkUsable()
      return made.engine.runGrowing(operation)
    },
  }
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    made.close()
    listeners.report({ isUp: false, wasEmptied: false })
    listeners.clear()
  }
  return {
    name,
    isShared,
    get isUp() {
      return isOpen
    },
    onStateChange: listener => listeners.add(listener),
    open: async () => checkUsable(),
    close,
    [Symbol.asyncDispose]: close,
    ...checkedParts({
      membership: new LocalMembership(engine),
      store: new LocalStore(engine),
      log: new LocalLog(engine),
      bus,
      rates: new LocalRates(engine),
    }),
  }
}
