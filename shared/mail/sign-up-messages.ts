/** Mails to an address for which an account is requested. The person behind the address may be anybody. */
import { letter, type Message } from './letter.ts'

/** Writes the mail with the code that proves an address during sign-up. */
export function signUpCode({ code, minutes }: { code: string; minutes: number }): Message {
  return letter('sign_up_code', 'Your sign-up code', [
    'Give this code to the agent or the page that asked for it:',
    { code },
    `It is valid for ${minutes} minutes and only for opening an account with this address.`,
    'If you did not ask for it, ignore this email: without the code nothing happens.',
  ])
}

/** Writes the mail for an address that has an account, instead of a code. The requester learns nothing. */
export function alreadyHaveAccount(webUrl: string): Message {
  return letter('already_have_account', 'You already have an account', [
    'Somebody asked to open an account with this address. You have one already, so nothing was done.',
    { link: `${webUrl}/login`, label: 'Sign in' },
    'If it was not you, ignore this email.',
  ])
}
