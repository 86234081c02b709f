import { readPosition } from '../../shared/chains/evm/yield.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { source, totalOf, totalRow, vaultBody } from '../../shared/yield/body.ts'
import { yieldVaults } from '../../shared/yield/registry.ts'
import { walletRow } from '../../shared/yield/wallet-row.ts'
import type { defiVaultsList } from './contract.ts'

/** Reads the account's position in every vault at once. */
export const run: Handler<typeof defiVaultsList> = async (_input, { db, world }) => {
  const [wallet, totals] = await Promise.all([
    db.one('get_wallet', {}, walletRow),
    db.many('order_totals', {}, totalRow),
  ])
  if (!wallet) throw new Error('an admitted caller has no wallet')
  const vaults = await Promise.all(
    yieldVaults(world.config).map(async (vault) => {
      const seen = await readPosition(world, vault, wallet.address)
      return vaultBody(vault, seen, totalOf(totals, vault))
    }),
  )
  return { vaults, source }
}
