import type { ComponentType } from 'preact'
import { lazy } from '../parts/lazy.tsx'
import { Config } from './config.tsx'
import { Connect } from './connect.tsx'
import { Logs } from './logs.tsx'
import { Overview } from './overview.tsx'
import { Servers } from './servers.tsx'
import { Sessions } from './sessions.tsx'
import { Tools } from './tools.tsx'
import { Traffic } from './traffic.tsx'

/** A page of the console. */
export interface Page {
  /** The first part of its address. */
  readonly id: string
  readonly title: string
  readonly icon: string
  /** The letter that, after `g`, opens it. */
  readonly letter: string
  readonly view: ComponentType
  /** What it is sent besides servers, figures and changes. */
  readonly topics: string
  /** Whether its parts scroll, and not the page. */
  readonly isFixed?: boolean
}

/** The pages, in the order of the navigation. */
export const pages: readonly Page[] = [
  { id: '', title: 'Overview', icon: '◉', letter: 'o', view: Overview, topics: '' },
  {
    id: 'traffic',
    title: 'Traffic',
    icon: '⇄',
    letter: 't',
    view: Traffic,
    topics: 'calls',
    isFixed: true,
  },
  { id: 'servers', title: 'Servers', icon: '▤', letter: 's', view: Servers, topics: '' },
  { id: 'tools', title: 'Tools', icon: '⚒', letter: 'u', view: Tools, topics: '', isFixed: true },
  {
    id: 'playground',
    title: 'Playground',
    icon: '▷',
    letter: 'p',
    view: lazy('Playground', async () => (await import('../play/playground.tsx')).Playground),
    topics: 'play',
    isFixed: true,
  },
  { id: 'sessions', title: 'Sessions', icon: '⇆', letter: 'e', view: Sessions, topics: '' },
  {
    id: 'nodes',
    title: 'Nodes',
    icon: '⌬',
    letter: 'd',
    view: lazy('Nodes', async () => (await import('./nodes.tsx')).Nodes),
    topics: '',
  },
  {
    id: 'check',
    title: 'Check',
    icon: '✓',
    letter: 'k',
    view: lazy('Check', async () => (await import('./check.tsx')).Check),
    topics: '',
  },
  { id: 'logs', title: 'Logs', icon: '≡', letter: 'l', view: Logs, topics: 'log', isFixed: true },
  { id: 'config', title: 'Configuration', icon: '⚙', letter: 'c', view: Config, topics: '' },
  { id: 'connect', title: 'Connect', icon: '⎋', letter: 'n', view: Connect, topics: '' },
]
