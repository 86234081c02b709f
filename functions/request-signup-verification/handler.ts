import { fail } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { codeSeconds, requestSignup } from '../../shared/onboarding/signup.ts'
import type { requestSignupVerification } from './contract.ts'

export const run: Handler<typeof requestSignupVerification> = async (input, context) => {
  const { TURNSTILE_SITE_KEY, WEB_URL } = context.world.config
  // A challenge needs a browser, so codes are then sent from the sign-up page alone.
  if (TURNSTILE_SITE_KEY !== '') {
    const message =
      'Only a person begins an account here, in a browser. Give your user details.url.'
    return fail('browser_only', { message, details: { url: `${WEB_URL}/join` } })
  }
  const refusal = await requestSignup(context, input)
  if (refusal) return refusal
  context.mailSoon()
  return { status: 'sent', expires_in_seconds: codeSeconds }
}
