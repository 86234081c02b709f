import { fail } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import type { x402PaymentPrepare } from './contract.ts'

export const run: Handler<typeof x402PaymentPrepare> = () => Promise.resolve(fail('unavailable'))
