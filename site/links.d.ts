export function siteLink(href: string, page: string, repository: string): string
