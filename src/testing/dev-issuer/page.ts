import { escapeHtml } from '../../util/text/escape-html.ts'

/** What the page to choose a user shows. */
export interface UserPage {
  /** The id of the authorization request, which the form sends back. */
  readonly request: string
  readonly clientName: string
  readonly resource: string
  readonly scopes: readonly string[]
  readonly redirectUri: string
  readonly users: readonly { readonly sub: string; readonly roles?: readonly string[] }[]
}

/** Makes the page on which a developer chooses the user to log in as. */
export function userPage(page: UserPage): Response {
  const { request, clientName, resource, scopes, redirectUri, users } = page
  const buttons = users.map(({ sub, roles = [] }) => {
    const label = roles.length === 0 ? sub : `${sub} (${roles.join(', ')})`
    return `<p><button name="user" value="${escapeHtml(sub)}">${escapeHtml(label)}</button></p>`
  })
  const asked = scopes.length === 0 ? 'no scopes' : `the scopes ${scopes.join(', ')}`
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Log in for development</title>
<style>body { font: 1rem/1.5 system-ui; max-width: 36rem; margin: 3rem auto; padding: 0 1rem }
button { font: inherit; padding: .4rem 1rem; min-width: 12rem; text-align: left }</style>
<h1>Log in as</h1>
<p><b>${escapeHtml(clientName)}</b> asks for ${escapeHtml(asked)} at <code>${escapeHtml(resource)}</code>.
It continues at <code>${escapeHtml(redirectUri)}</code>.</p>
<form method="post" action="/authorize">
<input type="hidden" name="request" value="${escapeHtml(request)}">
${buttons.join('\n')}
<p><button name="cancel" value="yes">Cancel</button></p>
</form>
<p>This is an authorization server for development. It asks for no password and forgets everything when it stops.</p>
</html>
`
  return htmlResponse(html, 200, redirectUri)
}

/** Makes a page that says why an authorization request cannot be answered by a redirect. */
export function problemPage(why: string): Response {
  return htmlResponse(`<!doctype html>\n<title>Error</title>\n<p>${escapeHtml(why)}</p>\n`, 400)
}

function htmlResponse(html: string, status: number, redirectUri?: string): Response {
  const target = redirectUri === undefined ? undefined : new URL(redirectUri)
  // Browsers apply form-action to the redirect after the form too.
  const next = target && (target.origin === 'null' ? target.protocol : target.origin)
  const policy = [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `form-action 'self'${next === undefined ? '' : ` ${next}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  }
  return new Response(html, { status, headers })
}
