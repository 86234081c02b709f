import * as z from 'zod'
import type { Handler } from '../../shared/http/handler.ts'
import { time } from '../../shared/money/row-fields.ts'
import type { vaultDelete } from './contract.ts'

const deletedRow = z.object({ deleted_at: time })

export const run: Handler<typeof vaultDelete> = async ({ credential_id }, { db }) => {
  const deleted = await db.one('delete_vault_entry', { entry: credential_id }, deletedRow)
  if (!deleted) throw new Error('delete_vault_entry answered no row')
  return { credential_id, ...deleted }
}
