import type { KeyRule } from '../../src/router/config/dialects/dialect.ts'

/** Says what the router makes of a key of another host, for the documentation. */
export function keyText(rule: KeyRule): string {
  switch (rule.kind) {
    case 'field':
      return `${rule.field.join('.')}${conversions[rule.as]}`
    case 'members':
      return 'its members are members of the server'
    case 'envFile':
      return 'the variables of this file are added to env'
    case 'ignored':
    case 'refused':
      return rule.why
  }
}

const conversions = {
  same: '',
  not: ', inverted',
  ms: ', in milliseconds',
  seconds: ', in seconds',
  bearer: ', with the token in this variable',
  references: ', with the values of these variables',
}
