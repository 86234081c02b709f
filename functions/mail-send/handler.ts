import type { Handler } from '../../shared/http/handler.ts'
import { callVault } from '../../shared/vault/ask.ts'
import type { mailSend } from './contract.ts'

export const run: Handler<typeof mailSend> = async (input, { world, credential, claim }) => {
  const { reply_to_mail_id: answered, ...order } = input
  return callVault(world, (vault) => vault.sendMail(credential, { ...order, answered, claim }))
}
