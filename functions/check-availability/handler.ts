import type { Handler } from '../../shared/http/handler.ts'
import { checkAvailability } from '../../shared/onboarding/availability.ts'
import type { checkAlias } from './contract.ts'

export const run: Handler<typeof checkAlias> = ({ alias }, context) =>
  checkAvailability(context, alias)
