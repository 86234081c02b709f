import * as z from 'zod'
import { readPosition } from '../../shared/chains/evm/yield.ts'
import { bigintText } from '../../shared/db/row-fields.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { source, vaultBody } from '../../shared/yield/body.ts'
import { yieldVaults } from '../../shared/yield/registry.ts'
import { walletRow } from '../../shared/yield/wallet-row.ts'
import type { defiVaultsList } from './contract.ts'

const totalRow = z.object({
  chain: z.int(),
  vault: z.string(),
  paid_atomic: bigintText,
  returned_atomic: bigintText,
  is_known: z.boolean(),
})
const nothing = { paid_atomic: 0n, returned_atomic: 0n, is_known: true }

/** Reads the account's position in every vault at once. */
export const run: Handler<typeof defiVaultsList> = async (_input, { db, world }) => {
  const [wallet, totals] = await Promise.all([
    db.one('get_wallet', {}, walletRow),
    db.many('order_totals', {}, totalRow),
  ])
  if (!wallet) throw new Error('an admitted caller has no wallet')
  const vaults = await Promise.all(
    yieldVaults(world.config).map(async (vault) => {
      const isOf = (row: z.output<typeof totalRow>) =>
        row.chain === vault.chain.id && row.vault === vault.address
      const total = totals.find(isOf) ?? nothing
      return vaultBody(vault, await readPosition(world, vault, wallet.address), total)
    }),
  )
  return { vaults, source }
}
