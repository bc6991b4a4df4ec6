/** Does what a user does in a browser on the page of a development issuer: chooses a user. Returns where it is sent. */
export async function chooseUser(page: URL, user: string): Promise<URL> {
  const html = await (await fetch(page)).text()
  const [, request = ''] = /name="request" value="([^"]+)"/.exec(html) ?? []
  const chosen = await fetch(new URL('/authorize', page), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ request, user }),
  })
  await chosen.body?.cancel()
  return new URL(chosen.headers.get('location') ?? '')
}
