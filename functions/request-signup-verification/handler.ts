import type { Handler } from '../../shared/http/handler.ts'
import { codeSeconds, requestSignup } from '../../shared/onboarding/signup.ts'
import type { requestSignupVerification } from './contract.ts'

export const run: Handler<typeof requestSignupVerification> = async (input, context) => {
  const refusal = await requestSignup(context, input)
  if (refusal) return refusal
  context.mailSoon()
  return { status: 'sent', expires_in_seconds: codeSeconds }
}
