/** Sets and reads the relayers' gas and what they carry, for tests of sponsored gas. */
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { type GasTerms, setGasTerms } from '../../scripts/operator/provision.ts'
import type { Agent, TestWorld } from './world.ts'

/** Sets wide gas terms, except for the given ones. Young accounts get the same terms unless stated. */
export async function limitGas(world: TestWorld, terms: GasTerms): Promise<void> {
  const { callsPerDay = 1_000_000n } = terms
  const young = { youngCallsPerDay: callsPerDay, youngHours: 72n }
  await setGasTerms(world.db.sql, 0n, { callsPerDay, ...young, leastUsdMicros: 0n, ...terms })
}

/** Returns the wei that all relayers hold together. */
export async function relayersHold(world: TestWorld): Promise<bigint> {
  const gasPayers = await world.db.sql<{ address: string }[]>`
    select address from private.gas_payers where kind = 'relayer'`
  const held = await callRpc(
    world.chain.rpcUrl,
    gasPayers.map(({ address }) => ['eth_getBalance', address, 'latest']),
  )
  return held.reduce<bigint>((sum, wei) => sum + BigInt(String(wei)), 0n)
}

/** Mines the transactions that the node has accepted. */
export async function mine(world: TestWorld): Promise<void> {
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x1']])
}

/** Sends a transfer, confirmed by the user, to an address that was never paid before. */
export function transferTo(world: TestWorld, payer: Agent, at: number, amount: string) {
  const recipient = `0x${(10n ** 20n + BigInt(at)).toString(16).padStart(40, '0')}`
  const order = { chain: 'base-sepolia', token: 'USDC', amount, recipient, user_confirmed: true }
  return world.worker().post(payer, '/wallet-custodial-transfer', order)
}

/** Sends transfers in parallel and counts the answers by error code, or `submitted`. */
export async function transfers(world: TestWorld, payer: Agent, count: number, amount: string) {
  const all = Array.from({ length: count }, (_, at) => transferTo(world, payer, at, amount))
  const answers = await Promise.all(all)
  const told = answers.map(({ body }) => String(body['error'] ?? body['status']))
  const times = (what: string) => told.filter((one) => one === what).length
  return {
    answers,
    counts: Object.fromEntries([...new Set(told)].sort().map((one) => [one, times(one)])),
  }
}
