/**
 * A product world with shops around it: the official facilitator, an honest merchant built from the
 * official packages, and one that lies. Balances are read from the chain and never from an answer.
 */

import * as z from 'zod'
import { type Facilitator, startFacilitator } from '../../scripts/local/chain/facilitator.ts'
import {
  type HostileMerchant,
  startHostileMerchant,
} from '../../scripts/local/chain/hostile-merchant.ts'
import { type Merchant, startMerchant } from '../../scripts/local/chain/merchants.ts'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import type { Chain } from '../../scripts/local/chain.ts'
import { atEnd } from './ending.ts'
import { type Agent, type Answer, type StartOptions, start, type TestWorld } from './world.ts'

export const priceAtomic = 10_000n

export type Market = TestWorld & {
  facilitator: Facilitator
  merchant: Merchant
  hostile: HostileMerchant
  /** Returns the USDC of an address in atomic units. */
  usdcOf(address: string): Promise<bigint>
  /** Moves the chain's time on and finalizes what was included before. */
  passOnChain(seconds: number): Promise<void>
}

/** Starts everything for this file and ends it after the file. */
export async function openMarket(options: StartOptions = {}): Promise<Market> {
  const world = await start({ ...options, chain: true })
  const { chain } = world
  const facilitator = await startFacilitator({ chains: [chain] })
  atEnd(() => facilitator.close())
  const shops = { facilitatorUrl: facilitator.url, chains: [chain] as const }
  const [merchant, hostile] = await Promise.all([
    startMerchant({ ...shops, chains: [chain] }),
    startHostileMerchant({ ...shops, chains: [chain], onSilence: world.expire }),
  ])
  atEnd(() => Promise.all([merchant.close(), hostile.close()]))
  return Object.assign(world, {
    facilitator,
    merchant,
    hostile,
    usdcOf: (address: string) => usdcOf(chain, address),
    passOnChain: (seconds: number) => passOnChain(chain, seconds),
  })
}

export function prepare(agent: Agent, body: object, headers?: Record<string, string>) {
  return agent.post('/x402-payment-prepare', body, headers)
}

export function execute(agent: Agent, attempt: string, isConfirmed = true): Promise<Answer> {
  const body = { attempt_id: attempt, user_confirmed: isConfirmed }
  return agent.post('/x402-payment-execute', body)
}

const preparedBody = z.object({ attempt_id: z.uuid() })

/** Returns the attempt id of an answer; throws on a refusal, which fails the test. */
export function attemptOf(answer: Answer): string {
  const parsed = preparedBody.safeParse(answer.body)
  if (!parsed.success) throw new Error(`not prepared: ${JSON.stringify(answer.body)}`)
  return parsed.data.attempt_id
}

/** Prepares and executes a payment with the user's confirmation. */
export async function pay(agent: Agent, body: object): Promise<Answer> {
  return execute(agent, attemptOf(await prepare(agent, body)))
}

/** Returns the amount that get-wallet-balances reports as reserved and not yet settled. */
export async function reservedUsd(agent: Agent): Promise<unknown> {
  const answer = await agent.post('/get-wallet-balances', {})
  return answer.body['reserved_usd']
}

async function usdcOf({ rpcUrl, usdc }: Chain, address: string): Promise<bigint> {
  // balanceOf(address) of ERC-20.
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`
  const [balance] = await callRpc(rpcUrl, [['eth_call', { to: usdc, data }, 'latest']])
  return BigInt(z.string().parse(balance))
}

async function passOnChain({ rpcUrl }: Chain, seconds: number): Promise<void> {
  await callRpc(rpcUrl, [['evm_increaseTime', seconds]])
  await callRpc(rpcUrl, [['anvil_mine', '0x10']])
}
