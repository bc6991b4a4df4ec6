import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { pages } from '../pages/index.ts'

/** Whether the list of keys is shown. */
export const isHelpOpen = signal(false)

/** The list of keys. */
export function Help() {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOpen = isHelpOpen.value
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen])
  return (
    <dialog
      ref={dialog}
      class="help"
      aria-labelledby="keys"
      onClose={() => {
        isHelpOpen.value = false
      }}
    >
      <div class="head">
        <h2 id="keys">Keys</h2>
        <span class="spacer" />
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <dl>
        {keys.map(([name, meaning]) => (
          <>
            <dt key={name}>
              <kbd>{name}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </>
        ))}
        {pages.map(({ letter, title }) => (
          <>
            <dt key={letter}>
              <kbd>g</kbd> <kbd>{letter}</kbd>
            </dt>
            <dd>{title}</dd>
          </>
        ))}
      </dl>
    </dialog>
  )
}

const keys: readonly (readonly [name: string, meaning: string])[] = [
  ['/', 'Filter'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['p', 'Pause or continue'],
  ['Esc', 'Close the details'],
  ['?', 'This list'],
]
