export function slug(text: string): string
export function anchors(page: string): string[]
