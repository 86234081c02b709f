import { isRefusal } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { confirmCode } from '../../shared/onboarding/signup.ts'
import type { confirmRegistrationCode } from './contract.ts'

export const run: Handler<typeof confirmRegistrationCode> = async (input, context) => {
  const confirmed = await confirmCode(context, input)
  if (isRefusal(confirmed)) return confirmed
  return { registration_url: confirmed.registrationUrl, expires_at: confirmed.expiresAt }
}
