/** Transfers that wait for their owner, with the page that decides and the owner's browser. */
import * as z from 'zod'
import { signedIn } from './browserless.ts'
import type { TestWorld } from './world.ts'

const path = '/wallet-custodial-transfer'
const asking = z.object({ transfer_id: z.uuid(), confirmation: z.object({ url: z.url() }) })

/** Asks for a transfer of 500 USDC out of 2,000, or with these differences. */
export async function waitingTransfer(world: TestWorld, differs: object = {}) {
  const payer = await world.agent('pay', { usdc: 2000 })
  const payee = await world.agent('read')
  const terms = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '500' }
  const order = { ...terms, ...differs }
  const { transfer_id, confirmation } = asking.parse((await payer.post(path, order)).body)
  const repeat = () => payer.post(path, { ...order, transfer_id, user_confirmed: true })
  const page = new URL(confirmation.url).pathname
  const browser = await signedIn(world, payer)
  return { payer, payee, order, transfer_id, page, repeat, browser }
}
