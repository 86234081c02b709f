import * as z from 'zod'
import { readPosition } from '../../shared/chains/evm/yield.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { formatUsd } from '../../shared/money/amount.ts'
import { bigintText } from '../../shared/money/row-fields.ts'
import { walletRow } from '../../shared/payments/payment.ts'
import { isRowOf, source, totalOf, totalRow, vaultBody } from '../../shared/yield/body.ts'
import { yieldVaults } from '../../shared/yield/registry.ts'
import type { defiVaultsList } from './contract.ts'

const limitRow = z.object({
  chain: z.int(),
  vault: z.string(),
  limit_usd_micros: bigintText,
  left_usd_micros: bigintText,
})

/** Reads the account's position in every vault at once. */
export const run: Handler<typeof defiVaultsList> = async (_input, { db, world }) => {
  const [wallet, totals, limits] = await Promise.all([
    db.one('get_wallet', {}, walletRow),
    db.many('order_totals', {}, totalRow),
    db.many('rule_limits', {}, limitRow),
  ])
  if (!wallet) throw new Error('an admitted caller has no wallet')
  const vaults = await Promise.all(
    yieldVaults(world.config).map(async (vault) => {
      const seen = await readPosition(world, vault, wallet.address)
      const limit = limits.find(isRowOf(vault))
      const automation = {
        limit_usd: formatUsd(limit?.limit_usd_micros ?? 0n),
        left_usd: formatUsd(limit?.left_usd_micros ?? 0n),
      }
      return { ...vaultBody(vault, seen, totalOf(totals, vault)), automation }
    }),
  )
  return { vaults, source }
}
