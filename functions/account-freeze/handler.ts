import type { Handler } from '../../shared/http/handler.ts'
import { freezeAccount } from '../../shared/payments/freeze.ts'
import type { accountFreeze } from './contract.ts'

export const run: Handler<typeof accountFreeze> = ({ reason }, context) =>
  freezeAccount(context, reason)
