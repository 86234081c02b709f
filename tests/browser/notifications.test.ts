/**
 * A browser is added by its own script, and its worker shows what is pushed to it. Chromium has no push service here,
 * so the subscription is given and the push is delivered by the browser's debugger; everything between is real.
 */
import { expect, test } from 'vitest'
import { openScene } from '../support/browser/browser.ts'
import { press } from '../support/browser/people.ts'

const scene = await openScene()
const { facts } = scene

const pushed = {
  title: 'Approve 150 USDC to shop?',
  body: 'Requested by: agent',
  url: `${facts.web_url}/approvals`,
  tag: '00000000-0000-4000-8000-000000000001',
}

/** Keys of the browser in RFC 8291 section 5. */
const keys = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
}
const subscribing = `
  const keys = ${JSON.stringify(keys)}
  const toJSON = () => ({ endpoint: 'https://push.example.com/1', keys })
  PushManager.prototype.subscribe = async () => ({ toJSON })`
const notifications = `navigator.serviceWorker.ready.then((worker) => worker.getNotifications())
  .then((shown) => shown.map(({ title, body, tag, data: url }) => ({ title, body, tag, url })))`

test('one press adds the browser, and a push is shown with what it tells', async () => {
  const { page, context } = await scene.owner()
  const { origin } = new URL(facts.web_url)
  await context.grantPermissions(['notifications'], { origin })
  await page.addInitScript({ content: subscribing })
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  const debug = await context.newCDPSession(page)
  const registered = new Promise<string>((resolve) => {
    debug.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [found] = registrations
      if (found) resolve(found.registrationId)
    })
  })
  await debug.send('ServiceWorker.enable')

  await page.goto('/web/notifications')
  await press(page, 'Show notifications in this browser')
  await page.getByRole('button', { name: /^Remove Chrome/ }).waitFor()
  const registrationId = await registered
  const data = JSON.stringify(pushed)
  // Chromium lost 1 of 600 pushes that came to a new profile, and showed it when it came again. The tag keeps it one.
  const push = async () => {
    await debug.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data })
    return page.evaluate(notifications)
  }

  await expect.poll(push, { interval: 500 }).toEqual([pushed])
  await page.getByRole('button', { name: /^Remove Chrome/ }).click()
  await page.getByText('None yet.').waitFor()
  expect(problems).toEqual([])
})
