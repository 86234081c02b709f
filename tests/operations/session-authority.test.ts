/** What a browser's session may ask of the operations: to read, and never to move money. */
import { expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { signedIn } from '../support/browserless.ts'
import { refusedSampleOf, sampleOf, shapeOf } from '../support/samples.ts'
import { start } from '../support/world.ts'

/** Port 9 discards (RFC 863): the chain is connected and silent. */
const world = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'] } })
const agent = await world.agent('read')
const session = (await signedIn(world, agent)).cookies.get('__Host-aoa_session') ?? ''
const protectedContracts = contracts.filter(({ access }) => access !== 'public')

test.each(protectedContracts)(
  'a session as bearer of $id with access $access',
  async (contract) => {
    for (const sample of [sampleOf(contract), refusedSampleOf(contract)]) {
      const { path, init } = shapeOf(contract, sample)
      const headers = new Headers(init.headers)
      headers.set('authorization', `Bearer ${session}`)

      const answer = await world.send(path, { ...init, headers })

      const reads = contract.access === 'any' || contract.access === 'read'
      if (reads) expect([401, 403]).not.toContain(answer.status)
      else expect(answer).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } })
    }
  },
)
