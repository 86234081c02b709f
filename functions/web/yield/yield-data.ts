/** Rows of the pages about yield, and what is read for them. */
import * as z from 'zod'
import { readPosition } from '../../../shared/chains/evm/yield.ts'
import { bigintText, time } from '../../../shared/db/row-fields.ts'
import { mandateRow } from '../../../shared/mandates/mandate-row.ts'
import { paymentRow, walletRow } from '../../../shared/payments/payment.ts'
import { isRowOf, totalOf, totalRow, vaultBody } from '../../../shared/yield/body.ts'
import { type YieldVault, yieldVaults } from '../../../shared/yield/registry.ts'
import type { Owner, PageContext } from '../visit.ts'

const ruleRow = z.object({
  chain: z.int(),
  vault: z.string(),
  keep_atomic: bigintText,
  above_atomic: bigintText.nullable(),
  refills: z.boolean(),
  mandate: mandateRow,
})
const dayRow = z.object({ chain: z.int(), vault: z.string(), at: time, earned_atomic: bigintText })
const ownRow = z.object({ rules: z.array(ruleRow), days: z.array(dayRow) })

/** Rule of the owner that is not over. */
export type RuleRow = z.output<typeof ruleRow>

/** Returns every vault with the account's position, rules and earnings by day. */
export async function readYield(c: PageContext, { db }: Owner) {
  const world = c.get('world')
  const [wallet, totals, own] = await Promise.all([
    db.one('get_wallet', {}, walletRow),
    db.many('order_totals', {}, totalRow),
    db.one('owner_yield', {}, ownRow),
  ])
  if (!wallet || !own) throw new Error('an account has no wallet')
  return Promise.all(
    yieldVaults(world.config).map(async (vault) => {
      const seen = await readPosition(world, vault, wallet.address)
      const isOf = isRowOf(vault)
      return {
        ...vault,
        body: vaultBody(vault, seen, totalOf(totals, vault)),
        rules: own.rules.filter(isOf),
        days: own.days.filter(isOf),
      }
    }),
  )
}

/** Vault as its page section shows it. */
export type VaultSeen = Awaited<ReturnType<typeof readYield>>[number]

const orderRow = z.object({ payment_row: paymentRow })

/** Returns the latest orders. */
export async function readOrders({ db }: Owner, page: number) {
  const rows = await db.many('list_orders', { page }, orderRow)
  return rows.map(({ payment_row }) => payment_row)
}

/** Returns the vault that a form names as `chain:address`. */
export function vaultNamed(vaults: readonly YieldVault[], name: string): YieldVault | undefined {
  return vaults.find((vault) => vaultName(vault) === name)
}

/** Returns the name of a vault in a form. */
export function vaultName({ chain, address }: YieldVault): string {
  return `${chain.id}:${address}`
}
