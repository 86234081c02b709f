import { expect, test } from 'vitest'
import * as z from 'zod'
import { openBrowser } from '../support/browserless.ts'
import { linkOf, statusOf } from '../support/links.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start()

/** Opens a link in a browser. Returns it with the button of its page. */
async function opened(agent: Agent) {
  const link = await linkOf(agent, { action_type: 'human_verification' })
  const path = new URL(link.url).pathname
  const browser = openBrowser(world)
  await browser.visit(path)
  await browser.submit({}, `${path}/open`)
  return { link, path, browser, confirm: () => browser.submit({}, `${path}/verify`) }
}

test('the agent is told that somebody confirmed, with an end', async () => {
  const agent = await world.agent('read')
  const { link, confirm } = await opened(agent)

  const page = await confirm()

  expect(page.text).toContain('Your agent is told that a person confirmed')
  const status = await statusOf(agent, link)
  expect(status).toMatchObject({ status: 'finished' })
  const result = z.object({ verified_at: z.string(), valid_until: z.string() })
  const { verified_at, valid_until } = result.parse(status['result'])
  expect(Date.parse(valid_until) - Date.parse(verified_at)).toBe(3_600_000)
})

test('an action is confirmed once, and not after it expired', async () => {
  const agent = await world.agent('read')
  const [first, late] = [await opened(agent), await opened(agent)]

  await first.confirm()
  const before = await statusOf(agent, first.link)
  await world.tick(5)
  await first.browser.send(`${first.path}/verify`, {
    method: 'POST',
    headers: { origin: 'http://localhost', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      form: first.browser.cookies.get('__Host-aoa_form') ?? '',
    }).toString(),
  })
  expect(await statusOf(agent, first.link)).toEqual(before)
  await world.tick(3_601)

  expect((await late.confirm()).text).toContain('This link has expired')
  expect(await statusOf(agent, late.link)).toMatchObject({ status: 'expired' })
})
