/** No page of an honest site is made to show a secret. */
import { expect, test } from 'vitest'
import { honestPaths, openHonestSite } from '../support/honest-site.ts'
import { entryOf } from '../support/vault-rows.ts'
import type { Agent, Answer } from '../support/world.ts'
import { start } from '../support/world.ts'

const world = await start()
const site = await openHonestSite()
const password = 'Canary-1 horse "battery"'
const totp = { seed: 'JBSWY3DPEHPK3PXP', algorithm: 'SHA1', digits: 6, periodSeconds: 30 } as const
const canaries = /canary/i

async function user() {
  const agent = await world.agent('vault')
  const given = { site: site.origin, username: 'ada@mail.example', password, totp }
  const credential_id = await entryOf(world, agent, given)
  const login = (path: string) => agent.post('/vault-login', { credential_id, path })
  return { agent, login }
}

function goOn(agent: Agent, { body }: Answer, step: object): Promise<Answer> {
  return agent.post('/vault-session', { session: body['session'], ...step })
}

test('no page of an honest site is made to show the secret by a sign-in there', async () => {
  const { agent, login } = await user()
  const shownBefore = site.shown().length
  const answers: Answer[] = []
  for (const path of honestPaths) {
    const begun = await login(path)
    answers.push(begun)
    const session = begun.status === 200 ? begun : await login('/profile')
    answers.push(await goOn(agent, session, { path }))
    for (const secret of ['password', 'totp']) {
      answers.push(await goOn(agent, session, { form: 0, secret }))
    }
  }

  expect(JSON.stringify(answers.map(({ body }) => body))).not.toMatch(canaries)
  expect(site.shown().slice(shownBefore)).not.toMatch(canaries)
})
