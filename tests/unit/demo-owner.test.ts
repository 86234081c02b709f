/** The demo's owner, who has no passkey at hand, says why a page did not take a form. */
import { expect, onTestFinished, test } from 'vitest'
import { signInOwner } from '../../scripts/demo/owner-browser.ts'
import { listen } from '../../scripts/local/process/listen.ts'

test('a form that needs a passkey ends the demo with the words of the page and what to do', async () => {
  const { url, close } = await listen(({ method, url: asked }) => {
    if (method === 'GET') return new Response('<main></main>')
    if (asked.endsWith('/login')) return Response.redirect(new URL('/', asked), 303)
    const page = '<nav>Menu</nav><main><h2>Nothing was approved</h2></main>'
    return new Response(page, { status: 409 })
  })
  onTestFinished(() => close())
  const owner = { email: 'a@aoa.example', password: 'quiet', alias: 'a', address: '0x' }
  const browser = await signInOwner({ web_url: url, owner })

  const sent = browser.send(`${url}/mandate/1`, { decision: 'approved' })

  await expect(sent).rejects.toThrow(/The page says: Nothing was approved .*\n.*passkey/)
})
