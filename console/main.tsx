import { render } from 'preact'
import { App } from './app.tsx'
import { followAddress } from './data/address.ts'
import { takeKey } from './data/api.ts'
import { reconnect } from './data/stream.ts'
import { followTheme } from './data/theme.ts'

takeKey()
followTheme()
followAddress()
// A link that is opened in a page that is open already has another key.
addEventListener('hashchange', () => {
  if (!location.hash.startsWith('#key=')) return
  takeKey()
  reconnect()
})
const root = document.getElementById('app')
if (root !== null) {
  // The frame in the HTML is there until the script runs.
  root.removeAttribute('class')
  root.replaceChildren()
  render(<App />, root)
}
