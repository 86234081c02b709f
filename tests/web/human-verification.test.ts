import { createChallenge, solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { openBrowser } from '../support/browserless.ts'
import { linkOf, statusOf } from '../support/links.ts'
import { challengeOf, solved } from '../support/work.ts'
import type { Agent } from '../support/world.ts'
import { start } from '../support/world.ts'

const world = await start()
/** Opens a link in a browser. Returns it with the challenge of its page. */
async function opened(agent: Agent) {
  const link = await linkOf(agent, { action_type: 'human_verification' })
  const path = new URL(link.url).pathname
  const browser = openBrowser(world)
  await browser.visit(path)
  const page = await browser.submit({}, `${path}/open`)
  const challenge = challengeOf(page.html)
  const verify = (solution: string) => browser.submit({ solution }, `${path}/verify`)
  return { link, path, browser, challenge, verify }
}

test('who does the work and confirms is told to the agent, with an end', async () => {
  const agent = await world.agent('read')
  const { link, challenge, verify } = await opened(agent)

  const page = await verify(await solved(challenge))

  expect(page.text).toContain('Your agent is told that somebody was there')
  const status = await statusOf(agent, link)
  expect(status).toMatchObject({ status: 'finished' })
  const result = z.object({ verified_at: z.string(), valid_until: z.string() })
  const { verified_at, valid_until } = result.parse(status['result'])
  expect(Date.parse(valid_until) - Date.parse(verified_at)).toBe(3_600_000)
})

test('a challenge that is changed, unsigned, of our own making or unsolved verifies nobody', async () => {
  const agent = await world.agent('read')
  const { link, challenge, verify, browser, path } = await opened(agent)
  const { parameters, signature } = challenge
  const easy = { algorithm: 'PBKDF2/SHA-256', cost: 5_000, counter: 1, deriveKey }
  const own = await createChallenge({
    ...easy,
    data: parameters.data,
    hmacSignatureSecret: 'a secret of somebody else',
    hmacKeySignatureSecret: 'another',
  })
  const right = await solved(challenge)
  const tampered = [
    JSON.stringify({ challenge, solution: { counter: 0, derivedKey: '00'.repeat(32) } }),
    JSON.stringify({ challenge, solution: { counter: 1, derivedKey: parameters.keyPrefix } }),
    right.replace(parameters.nonce, '00'.repeat(16)),
    right.replace(signature, '00'.repeat(32)),
    right.replace(`"cost":${parameters.cost}`, '"cost":1'),
    JSON.stringify({
      challenge: own,
      solution: await solveChallenge({ challenge: own, deriveKey }),
    }),
    '',
    '{',
    'null',
    'x'.repeat(15_000),
  ]

  for (const solution of tampered) {
    await browser.visit(path)
    expect((await verify(solution)).status, solution.slice(0, 300)).toBe(400)
  }

  expect(await statusOf(agent, link)).toMatchObject({ status: 'opened' })
})

test('a solution is good for its own action, once, and not after the action expired', async () => {
  const agent = await world.agent('read')
  const [first, second, late] = [await opened(agent), await opened(agent), await opened(agent)]
  const solution = await solved(first.challenge)

  expect((await second.verify(solution)).status).toBe(400)
  expect(await statusOf(agent, second.link)).toMatchObject({ status: 'opened' })
  await first.verify(solution)
  const before = await statusOf(agent, first.link)
  await world.tick(5)
  const again = { solution, form: first.browser.cookies.get('__Host-aoa_form') ?? '' }
  const headers = {
    origin: 'http://localhost',
    'content-type': 'application/x-www-form-urlencoded',
  }
  const body = new URLSearchParams(again).toString()
  await first.browser.send(`${first.path}/verify`, { method: 'POST', headers, body })
  expect(await statusOf(agent, first.link)).toEqual(before)
  const inTime = await solved(late.challenge)
  await world.tick(3_601)

  expect((await late.verify(inTime)).text).toContain('This link has expired')
  expect(await statusOf(agent, late.link)).toMatchObject({ status: 'expired' })
})
