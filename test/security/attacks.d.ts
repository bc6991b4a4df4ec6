export const attacks: Readonly<Record<string, unknown>>
