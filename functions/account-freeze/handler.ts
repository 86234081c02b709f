import type { Handler } from '../../shared/http/handler.ts'
import { freezeAccount } from '../../shared/payments/freeze.ts'
import type { accountFreeze } from './contract.ts'

export const run: Handler<typeof accountFreeze> = async (wish, context) => {
  const frozen = await freezeAccount(context, wish)
  context.mailSoon()
  return frozen
}
