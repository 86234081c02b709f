/** Balances of a play's relayers: what they hold, were given and lost. */
import * as z from 'zod'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import type { TestWorld } from '../world.ts'

const quantity = z.string().transform(BigInt)

export type GasPayers = {
  addresses: readonly string[]
  /** Sets each balance to this many millionths of the native coin. */
  fund(millionths: number): Promise<void>
  /** Returns the wei spent for gas so far. */
  lost(): Promise<bigint>
}

export async function watchGasPayers(
  { db, chain }: Pick<TestWorld, 'db' | 'chain'>,
  millionths: number,
): Promise<GasPayers> {
  const rows = await db.sql<{ address: string }[]>`select address from private.gas_payers`
  const addresses = rows.map(({ address }) => address)
  let given = 0n
  const held = async () => {
    const calls = addresses.map((at) => ['eth_getBalance', at, 'latest'] as const)
    return (await callRpc(chain.rpcUrl, calls)).map((wei) => quantity.parse(wei))
  }
  const set = async (amounts: readonly bigint[]) => {
    given += sum(amounts) - sum(await held())
    const calls = amounts.map((wei, at) => ['anvil_setBalance', addresses[at], toHex(wei)] as const)
    await callRpc(chain.rpcUrl, calls)
  }
  const fund = (each: number) => set(addresses.map(() => BigInt(each) * 10n ** 12n))
  given = sum(await held())
  await fund(millionths)
  return {
    addresses,
    fund,
    lost: async () => given - sum(await held()),
  }
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}

function toHex(wei: bigint): string {
  return `0x${wei.toString(16)}`
}
