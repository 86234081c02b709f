/** Actions of the thief's merchant, payees and contracts, and of those who give gas or take it away. */
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import { headerOf } from '../x402.ts'
import type { ActionOf, Using } from './actions.ts'
import { crowdAt, mine, submit } from './blocks.ts'
import { crowd, type Step } from './contracts.ts'
import { authorizationsIn } from './given-out.ts'
import { ask, type Held, paymentIn } from './merchant.ts'
import { type Play, pick } from './play.ts'

/** Opens the merchant's host on the network of the play. */
export function openShop(play: Play): void {
  openShopOf(play, () => play)
}

/** Opens the host for plays that share a network; the payee shows whose order it is. */
export function openShopOf(
  { network, world, clock }: Pick<Play, 'network' | 'world' | 'clock'>,
  playOf: (payee: string) => Play | undefined,
): void {
  const { usdc } = world.chain
  network.shop = async (request) => {
    const held = paymentIn(request, usdc)
    const play = held && playOf(held.payee)
    if (!held || !play) return ask(request.url, usdc, clock.now())
    play.held.push(held)
    return answer(play, held, request.url)
  }
}

const falseHash = `0x${'ab'.repeat(32)}`

async function answer(play: Play, held: Held, url: string): Promise<Response> {
  const { manner } = play
  if (manner === 'refuse') return ask(url, play.world.chain.usdc, play.clock.now())
  if (manner === 'error') return new Response('later', { status: 500 })
  const isSettling = manner === 'settle' || manner === 'lost'
  const hash = isSettling ? await settle(play, held, 'plain', held.amount) : falseHash
  if (play.isMining && isSettling) await mine(play.world.chain)
  if (manner === 'lost') throw new TypeError('the connection was cut')
  if (manner === 'keep') return Response.json({ paid: true })
  const claim = { success: true, transaction: hash, network: 'eip155:84532' }
  return Response.json({ paid: true }, { headers: { 'payment-response': headerOf(claim) } })
}

const floodTimes = 60

/** Uses a signature in the requested way and returns the hash of the transaction. */
async function settle(play: Play, held: Held, using: Using, amount: bigint): Promise<string> {
  const { chain } = play.world
  const step = held.step(amount)
  if (using === 'plain' && held.crowd === undefined) return submit(chain, step, 300_000)
  if (using === 'stored') return settleStored(play, held, step)
  const flooded = using === 'flooded' ? [floodStep(play, held.payee, floodTimes)] : []
  const target = held.crowd ?? crowdAt(0)
  return submit(chain, { target, data: crowd.run([step, ...flooded]) })
}

/** Takes the money with a call that hides it; another call of the block names it and takes none. */
async function settleStored(play: Play, held: Held, step: Step): Promise<string> {
  const { chain } = play.world
  const target = held.crowd ?? crowdAt(0)
  await submit(chain, { target, data: crowd.store([step]) })
  await submit(chain, { target, data: crowd.fire() })
  const decoy = crowd.run([floodStep(play, held.payee, 3), step])
  return submit(chain, { target, data: decoy })
}

function floodStep({ world, thief }: Play, payee: string, times: number): Step {
  return { target: crowdAt(0), data: crowd.flood(world.chain.usdc, thief.address, payee, times) }
}

const heldTogetherMax = 12

/** Uses one of the merchant's held payments, or the last ones in one transaction. */
export async function use(play: Play, { which, using, permille }: ActionOf<'use'>): Promise<void> {
  const share = ({ amount }: Held) => (amount * BigInt(permille)) / 1_000n || 1n
  if (using === 'all') {
    const steps = play.held.slice(-heldTogetherMax).map((held) => held.step(share(held)))
    if (steps.length === 0) return
    for (const target of [crowdAt(0), crowdAt(1)]) {
      await submit(play.world.chain, { target, data: crowd.run(steps) })
    }
    return
  }
  const held = pick(play.held, which)
  if (held) await settle(play, held, using, share(held))
}

export async function flood(play: Play, { to, times }: ActionOf<'flood'>): Promise<void> {
  const { target, data } = floodStep(play, pick(play.payees, to) ?? '', times)
  await submit(play.world.chain, { target, data }, 100_000 + 12_000 * times)
}

/** Extracts the authorizations from a transaction that the service gave out and submits them first. */
export async function frontRun(play: Play, { which }: ActionOf<'front-run'>): Promise<void> {
  const { chain } = play.world
  const sent = pick(play.network.sent, which)
  if (!sent) return
  for (const data of authorizationsIn(sent.raw)) await submit(chain, { target: chain.usdc, data })
}

/** Sets the wallet's gas balance, in millionths of the native coin. */
export async function drip(play: Play, { millionths }: ActionOf<'drip'>): Promise<void> {
  const wei = `0x${(BigInt(millionths) * 10n ** 12n).toString(16)}`
  await callRpc(play.world.chain.rpcUrl, [['anvil_setBalance', play.thief.address, wei]])
}

export function drain(play: Play, { millionths }: ActionOf<'drain'>): Promise<void> {
  return play.gasPayers.fund(millionths)
}

export async function setManner(play: Play, { manner }: ActionOf<'manner'>): Promise<void> {
  play.manner = manner
}
