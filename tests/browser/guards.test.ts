/** Pages of other sites can neither frame our pages nor trick or inject into them, in a real browser. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { askingUrl, openAgent, registerApp } from '../../scripts/screenshots/stage.ts'
import { openScene } from '../support/browser/browser.ts'
import { answering, serverThat } from '../support/http.ts'

const scene = await openScene()
const { web_url: web } = scene.facts

function foreignPage(body: string) {
  return serverThat(answering(200, { 'content-type': 'text/html' }, `<!doctype html>${body}`))
}

test('a page of ours is not shown in a frame of another', async () => {
  const { page, complaints } = await scene.stranger()
  const foreign = await foreignPage(`<iframe src="${web}/login"></iframe>`)

  await page.goto(foreign.url)

  const refused = 'chrome-error://chromewebdata/'
  await expect.poll(() => page.frames()[1]?.url()).toBe(refused)
  await expect.poll(() => complaints.length).toBeGreaterThan(0)
  expect(complaints.splice(0).join()).toContain("frame-ancestors 'none'")
})

test.each(['127.0.0.1', 'localhost'])('a form on a page of %s changes nothing', async (host) => {
  const { page } = await scene.owner()
  const form = `<form method="post" action="${web}/freeze">
    <input name="wanted" value="frozen"><button>Win</button></form>`
  const foreign = new URL((await foreignPage(form)).url)
  foreign.hostname = host

  await page.goto(foreign.href)
  const answered = page.waitForResponse(`${web}/freeze`)
  await page.getByRole('button').click()

  expect((await answered).status()).toBe(403)
  const { api_keys, base_url } = scene.facts
  const identity = z.object({ frozen: z.boolean() })
  const agent = openAgent(base_url, api_keys.read)
  expect(await agent('/get-identity', undefined, identity)).toEqual({ frozen: false })
})

test('a click on its way to another page lets no app in when ours comes to the front', async () => {
  const { page } = await scene.owner()
  const app = await registerApp(scene.facts, 'https://app.example/back')
  await page.goto(askingUrl(scene.facts, app, 'read'))
  const allow = page.getByRole('button', { name: 'Allow' })
  await expect.poll(() => allow.isEnabled()).toBe(true)

  const held = await page.evaluate(`
    dispatchEvent(new Event('focus'))
    document.querySelector('button[value="allowed"]').disabled`)

  expect(held).toBe(true)
  await expect.poll(() => allow.isEnabled()).toBe(true)
})

test('markup, scripts and styles that were slipped into a page stay without effect', async () => {
  const { page, complaints } = await scene.stranger()
  await page.goto(`${web}/login`)

  const write = page.evaluate(`document.body.innerHTML = '<b>slipped in</b>'`)
  await expect(write).rejects.toThrow('TrustedHTML')
  const run = page.evaluate(`
    const script = document.createElement('script')
    script.text = 'globalThis.ran = true'
    document.body.append(script)`)
  await expect(run).rejects.toThrow('TrustedScript')
  await page.evaluate(`document.body.setAttribute('style', 'display: none')`)

  expect(await page.evaluate('globalThis.ran')).toBeUndefined()
  expect(await page.evaluate('getComputedStyle(document.body).display')).not.toBe('none')
  expect(complaints.splice(0).join()).toContain('style-src')
})
