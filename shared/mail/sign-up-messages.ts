/** Mails to an address that asks for an account; the person behind it may be anybody. */
import type { Message } from './letter.ts'
import { letter } from './letter.ts'

/** The code that proves an address during sign-up. */
export function signUpCode({ code, minutes }: { code: string; minutes: number }): Message {
  return letter('sign_up_code', 'Your sign-up code', [
    'Give this code to the agent or the page that asked for it:',
    { code },
    `It is good for ${minutes} minutes and only for opening an account with this address.`,
    'If you did not ask for it, ignore this mail: without the code nothing happens.',
  ])
}

/** In place of a code, for an address that has an account: the asker learns nothing of it. */
export function alreadyHaveAccount(webUrl: string): Message {
  return letter('already_have_account', 'You already have an account', [
    'Somebody asked to open an account with this address. You have one already, so nothing was done.',
    { link: `${webUrl}/login`, label: 'Sign in' },
    'If it was not you, ignore this mail.',
  ])
}
