import { fail } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import type { x402PaymentExecute } from './contract.ts'

export const run: Handler<typeof x402PaymentExecute> = () => Promise.resolve(fail('unavailable'))
