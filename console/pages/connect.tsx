import { useEffect, useState } from 'preact/hooks'
import type { ConnectAnswer } from '../../src/console/wire.ts'
import { ask } from '../data/api.ts'
import { clock, visible } from '../data/format.ts'
import { Copy, Empty, State } from '../parts/basics.tsx'

/** What to paste into hosts, and which of them have called. */
export function Connect() {
  const [answer, setAnswer] = useState<ConnectAnswer | undefined>(undefined)
  useEffect(() => {
    const load = (): void => {
      ask<ConnectAnswer>('connect').then(setAnswer, () => {})
    }
    load()
    const timer = setInterval(load, 1000)
    return () => clearInterval(timer)
  }, [])
  const { addresses = [], hosts = [], clients = [] } = answer ?? {}
  return (
    <>
      <h1>Connect</h1>
      <p>
        {addresses.map(each => (
          <code key={each}>{each} </code>
        ))}
      </p>
      <section class="section">
        <h2>Clients that have called</h2>
        {clients.length === 0 ? (
          <Empty>
            <p>
              Waiting for the first call. Paste one of the texts below into a host and start it.
            </p>
          </Empty>
        ) : (
          <ul class="times" aria-live="polite">
            {clients.map(({ name, version, at, method }) => (
              <li key={`${name} ${version}`}>
                <time>{clock(at)}</time>
                <span class="dot ok" />
                <span>
                  <State level="ok">
                    {visible(name)} {visible(version)}
                  </State>{' '}
                  called <code>{method}</code>
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
      <section class="section">
        <h2>Hosts</h2>
        <div class="cards">
          {hosts.map(({ id, title, how, text }) => (
            <section key={id} class="card">
              <div class="head">
                <h3>{title}</h3>
                <span class="spacer" />
                <Copy text={text} />
              </div>
              <p class="muted">{how}</p>
              <pre class="code" tabIndex={0}>
                {text}
              </pre>
            </section>
          ))}
        </div>
      </section>
    </>
  )
}
