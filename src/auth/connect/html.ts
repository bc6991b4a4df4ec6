import type { PageResponse } from '../../mcp/callers/connect-pages.ts'
import { escapeHtml } from '../../util/text/escape-html.ts'
import type { GrantTicket } from './tickets.ts'

/**
 * The headers of every page: nothing is loaded, framed, stored, or revealed to the next page. There is no `form-action`,
 * because browsers apply it to the redirects after the form too, which lead to any authorization server.
 */
const safe: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Makes a redirect. */
export function redirectTo(url: URL, more: Readonly<Record<string, string>> = {}): PageResponse {
  return { status: 303, headers: { ...safe, location: url.href, ...more } }
}

/** Makes the page on which a user allows the router to act for them, or leaves. */
export function consentPage(
  ticket: GrantTicket,
  action: string,
  csrf: string,
  more: Readonly<Record<string, string>>,
): PageResponse {
  const { name, server, grantedBy, scopes, subject, principal } = ticket
  const asked =
    scopes.length === 0
      ? '<p>It names no scopes.</p>'
      : `<p>It will ask for these scopes:</p>\n<ul>\n${scopes.map(scope => `<li><code>${escapeHtml(scope)}</code></li>`).join('\n')}\n</ul>`
  const body = `<h1>Connect to ${escapeHtml(name)}</h1>
<p>You are <b>${escapeHtml(subject ?? principal)}</b>. This router asks to act for you at the server <b>${escapeHtml(name)}</b>
(<code>${escapeHtml(new URL(server).host)}</code>). You will log in at <code>${escapeHtml(new URL(grantedBy).host)}</code>.</p>
${asked}
<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<p><button>Continue</button></p>
</form>
<p>If you have not asked for this, close this page.</p>`
  return page(200, `Connect to ${name}`, body, more)
}

/** Makes the page that says that the router can act for the user now. */
export function connectedPage({ name }: GrantTicket): PageResponse {
  const body = `<h1>Connected</h1>
<p>The router can act for you at <b>${escapeHtml(name)}</b>. Close this page and continue in your program.</p>`
  return page(200, 'Connected', body)
}

/** Makes a page that says what is wrong, and what to do. */
export function refusalPage(status: number, why: string): PageResponse {
  return page(status, 'Not connected', `<h1>Not connected</h1>\n<p>${escapeHtml(why)}</p>`)
}

function page(
  status: number,
  title: string,
  body: string,
  more: Readonly<Record<string, string>> = {},
): PageResponse {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
${body}
</html>
`
  return { status, headers: { ...safe, ...more }, body: html }
}
