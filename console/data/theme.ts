import { effect, signal } from '@preact/signals'

const stored = 'trunkline theme'

/** The theme that a person has chosen; `system` follows the system. */
export const theme = signal<'system' | 'light' | 'dark'>(read())

/** Applies the theme to the page from now on. */
export function followTheme(): void {
  effect(() => {
    const { documentElement } = document
    if (theme.value === 'system') {
      delete documentElement.dataset.theme
      localStorage.removeItem(stored)
    } else {
      documentElement.dataset.theme = theme.value
      localStorage.setItem(stored, theme.value)
    }
  })
}

function read(): 'system' | 'light' | 'dark' {
  const found = localStorage.getItem(stored)
  return found === 'light' || found === 'dark' ? found : 'system'
}
