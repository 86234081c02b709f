/** A browser session is valid in the web app alone. */
import { expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { signedIn } from '../support/browserless.ts'
import { sampleOf, shapeOf } from '../support/samples.ts'
import { start } from '../support/world.ts'

const world = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'] } })
const agent = await world.agent('full')
const browser = await signedIn(world, agent)
const token = browser.cookies.get('__Host-aoa_session') ?? ''

test.each(contracts.filter(({ access }) => access !== 'public'))(
  '$id takes no session, as a token or as a cookie',
  async (contract) => {
    const { path, init } = shapeOf(contract, sampleOf(contract))
    const disguises: Record<string, string>[] = [
      { authorization: `Bearer ${token}` },
      { cookie: `__Host-aoa_session=${token}` },
    ]
    for (const given of disguises) {
      const headers = { ...Object.fromEntries(new Headers(init.headers)), ...given }
      const { status, body } = await world.send(path, { ...init, headers })

      expect([status, body['error']]).toEqual([401, 'unauthorized'])
    }
  },
)

test('the same session opens the pages', async () => {
  expect((await browser.visit('/web')).text).toContain(agent.alias)
})
