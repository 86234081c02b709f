import type { Handler } from '../../shared/http/handler.ts'
import { callVault } from '../../shared/vault/ask.ts'
import type { mailList } from './contract.ts'

const limitDefault = 20

/** Lists mails through the vault, which opens their sealed parts. */
export const run: Handler<typeof mailList> = async (input, { world, credential }) => {
  const { limit, cursor, unread, ...filters } = input
  return callVault(world, (vault) =>
    vault.listMails(credential, {
      ...filters,
      limit: Number(limit ?? limitDefault),
      before: cursor === undefined ? undefined : Number(cursor),
      unread: unread === 'true',
    }),
  )
}
