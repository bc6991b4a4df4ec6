import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'

/** Returns a page whose code is loaded when it is first shown. */
export function lazy(title: string, load: () => Promise<ComponentType>): ComponentType {
  const loaded = signal<{ readonly view: ComponentType } | undefined>(undefined)
  const problem = signal('')
  const start = (): void => {
    load().then(
      view => {
        loaded.value = { view }
      },
      (error: unknown) => {
        problem.value = error instanceof Error ? error.message : String(error)
      },
    )
  }
  return function Lazy() {
    useEffect(() => {
      if (loaded.value === undefined) start()
    }, [])
    if (loaded.value !== undefined) {
      const View = loaded.value.view
      return <View />
    }
    return (
      <>
        <h1>{title}</h1>
        {problem.value === '' ? (
          <div class="skeleton" />
        ) : (
          <p class="banner error">The page could not be loaded: {problem.value}. Reload it.</p>
        )}
      </>
    )
  }
}
