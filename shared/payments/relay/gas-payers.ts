/**
 * Keeps relayers in service: aligns their counters with the chain's, takes out those that cannot pay
 * for gas, and alerts the operator before that happens.
 */
import * as z from 'zod'
import type { Chain } from '../../chains/chain.ts'
import { relayGas } from '../../chains/evm/gas.ts'
import {
  type GasPayerState,
  type GasPayerStates,
  readGasPayers,
} from '../../chains/evm/gas-payers.ts'
import { addressSchema } from '../../chains/hex.ts'
import type { GasPayerSeen } from '../../custody/port.ts'
import type { World } from '../../world.ts'
import { fundedGasPayers, type RelaySeen } from './relay.ts'

/** Gas payer as the ledger has it. */
export const gasPayerRow = z.object({
  chain: z.int(),
  address: addressSchema,
  kind: z.enum(['relayer', 'wallet']),
  next_nonce: z.int(),
  mined_nonce: z.int(),
  paused_for: z.string().nullable(),
})

/** Parsed gas payer. */
export type GasPayerRow = z.output<typeof gasPayerRow>

/** Gas payers of a chain as they were just seen; `relay` names those that can take more. */
export type GasPayersSeen = { states: Map<string, GasPayerState>; relay: RelaySeen }

/** Number of relayed transfers that a relayer should be able to pay for; below it the operator is alerted. */
const reserveTransfers = 100n

/** Looks at a chain's gas payers and repairs differences; undefined while the chain does not answer. */
export async function maintainGasPayers(
  world: World,
  chain: Chain,
  rows: readonly GasPayerRow[],
): Promise<GasPayersSeen | undefined> {
  const read = await readGasPayers(
    world,
    chain,
    rows.map(({ address }) => address),
  )
  if (read.status !== 'ok') {
    world.log({ operation: 'housekeeping', chain: chain.caip2, log: read.log })
    return undefined
  }
  const states = new Map(read.gasPayers.map((gasPayer) => [gasPayer.address, gasPayer]))
  const relayers = rows.filter(({ kind }) => kind === 'relayer')
  // Above the budget of a transfer nothing but a nonce that has to be used up goes out.
  const fees = read.isOverBudget ? read.empty : read
  const relayedCostWei = relayGas(chain.id, 1) * fees.maxFeePerGas + read.dataFeeWei
  const funded = fundedGasPayers(relayers, { gasPayers: read.gasPayers, relayedCostWei })
  for (const row of rows) {
    const state = states.get(row.address)
    if (state) await repair(world, chain, row, state)
  }
  for (const row of relayers) {
    const state = states.get(row.address)
    const gasPayer = funded.find(({ address }) => address === row.address)
    if (state) await putInService(world, chain, row, { gasPayer, state, seen: read })
  }
  return {
    states,
    relay: {
      maxFeePerGas: fees.maxFeePerGas.toString(),
      maxPriorityFeePerGas: fees.maxPriorityFeePerGas.toString(),
      dataFeeWei: read.dataFeeWei.toString(),
      gasPayers: read.isOverBudget ? [] : funded,
    },
  }
}

/**
 * Moves the counter forward as far as enough endpoints show, and back only to the highest count that any
 * shows. Leaves it while too few answer.
 */
async function repair(
  world: World,
  { caip2 }: Chain,
  row: GasPayerRow,
  { agreedNonce: agreed, highestNonce: highest }: GasPayerState,
): Promise<void> {
  const { chain, address, next_nonce: next, mined_nonce: mined } = row
  const alarm = (name: string) => world.log({ alarm: name, chain: caip2, address, next, highest })
  if (highest > next && highest > (agreed ?? 0)) alarm('endpoints_disagree')
  if (row.paused_for === 'nonce_gap') alarm('nonce_gap')
  if (agreed === undefined) return
  const counted = Math.max(agreed, Math.min(highest, mined))
  if (next === counted && mined === counted && row.paused_for !== 'nonce_gap') return
  await world.db.call('housekeeping_repair_gas_payer', { chain, address, counted, highest })
}

async function putInService(
  world: World,
  chain: Chain,
  row: GasPayerRow,
  found: { gasPayer: GasPayerSeen | undefined; state: GasPayerState; seen: GasPayerStates },
): Promise<void> {
  const { gasPayer, state, seen } = found
  const reason = gasPayer ? null : 'unfunded'
  if (row.paused_for !== reason) {
    const question = { chain: row.chain, address: row.address, reason }
    await world.db.call('housekeeping_pause_gas_payer', question)
  }
  const { chain: chainId, address } = row
  const { wei } = state
  await world.db.call('housekeeping_see_gas_payer', {
    chain: chainId,
    address,
    wei: wei.toString(),
  })
  if (wei >= reserveTransfers * seen.relayedCostWei) return
  world.log({
    alarm: gasPayer ? 'relayer_low' : 'relayer_unfunded',
    chain: chain.caip2,
    address,
    wei: wei.toString(),
  })
}
