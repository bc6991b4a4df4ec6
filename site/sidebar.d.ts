export interface Item {
  readonly text: string
  readonly link?: string
  readonly items?: readonly Item[]
}

export function sidebar(read: (path: string) => string): Item[]
export function linkOf(path: string): string
