import { address, setQuery } from './data/address.ts'
import { isPaused, setPaused } from './data/store.ts'
import { pages } from './pages/index.ts'
import { isHelpOpen } from './parts/help.tsx'

/** Listens to keys until the returned function is called. */
export function listenToKeys(): () => void {
  let waitsForPage = false
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const target = event.target instanceof HTMLElement ? event.target : undefined
    const isTyping = target?.matches('input, textarea, select') === true
    if (event.key === 'Escape') {
      target?.blur()
      isHelpOpen.value = false
      if (address.value.query.has('sel')) setQuery({ sel: undefined })
      return
    }
    if (isTyping) return
    if (waitsForPage) {
      waitsForPage = false
      const page = pages.find(({ letter }) => letter === event.key)
      if (page !== undefined) location.hash = `#/${page.id}`
      return
    }
    switch (event.key) {
      case 'g':
        waitsForPage = true
        return
      case '/':
        event.preventDefault()
        document.getElementById('filter')?.focus()
        return
      case 'p':
        setPaused(!isPaused.value)
        return
      case '?':
        isHelpOpen.value = true
        return
      case 'j':
      case 'k':
        moveSelection(event.key === 'j' ? 1 : -1)
    }
  }
  addEventListener('keydown', onKey)
  return () => removeEventListener('keydown', onKey)
}

/** Selects the next or the previous row that is in view. */
function moveSelection(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  if (rows.length === 0) return
  const at = rows.findIndex(row => row.getAttribute('aria-selected') === 'true')
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))]
  next?.scrollIntoView({ block: 'nearest' })
  next?.click()
}
