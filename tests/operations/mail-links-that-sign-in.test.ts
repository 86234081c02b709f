/**
 * Sign-in links are found and replaced by handles. In each of these mails the address and the words
 * before it say that the link signs in or confirms, and it carries a token, whatever its other words and
 * form.
 */
import { expect, test } from 'vitest'
import { openMailbox } from '../support/mailbox.ts'
import { start } from '../support/world.ts'

const product = await start()
const token = 'Xk39dKq02LmZpQ81tRw7'

const cases: [string, string, string][] = [
  [
    'control',
    'Your sign-in link',
    `Click to sign in:\nhttps://app.shop.example/login?key=${token}`,
  ],
  [
    'a link that leads on to the preferences',
    'Your sign-in link',
    `Click to sign in:\nhttps://app.shop.example/login?key=${token}&next=%2Fpreferences`,
  ],
  [
    'the same, found by its path alone',
    'Your sign-in link',
    `Click to sign in:\nhttps://app.shop.example/auth/${token}?redirect=/email-preferences`,
  ],
  [
    'a bank by the name of Bajaj',
    'Sign in to your account',
    `Click to sign in:\nhttps://www.bajajfinserv.example/login?key=${token}`,
  ],
  [
    'a line that names leaving, too',
    'Your sign-in link',
    `Sign in to read, manage or unsubscribe: https://app.shop.example/auth/login?token=${token}`,
  ],
  [
    'a password reset behind such a word',
    'Reset your password',
    `Reset it here (this is not a mailing list, so there is nothing to unsubscribe from): https://app.shop.example/reset-password?token=${token}`,
  ],
  [
    'a link without its scheme',
    'Your sign-in link',
    `To sign in, open app.shop.example/magic/${token} in your browser.`,
  ],
  [
    'a link without its scheme, on its line',
    'Your sign-in link',
    `Copy this into your browser to sign in:\n\napp.shop.example/login?token=${token}\n`,
  ],
  [
    'an address that confirms',
    'Please confirm',
    `To confirm your subscription, send an empty mail to list-confirm+${token}@lists.shop.example.`,
  ],
  [
    'a mail that is written for you',
    'Please confirm your sign-up',
    `To confirm: mailto:confirm@lists.shop.example?subject=confirm%20${token}`,
  ],
  [
    'a name that its member chose',
    'Your sign-in link',
    `Hi Ada (Unsubscribe), sign in here: https://app.shop.example/login?token=${token}`,
  ],
  [
    'a link that was broken for its length',
    'Your sign-in link',
    `Click to sign in:\nhttps://app.shop.example/account/sessions/magic-link/callback?user=ada&key=\n${token}\n`,
  ],
  [
    'a link that was broken within its token',
    'Your sign-in link',
    `Click to sign in:\nhttps://app.shop.example/account/callback?user=ada&key=Aa0Bb1Cc2Dd3\n${token}\n`,
  ],
  [
    'an address of O’Brien, whose sign encodeURIComponent leaves as it is',
    'Your sign-in link',
    `Click to sign in:\nhttps://app.shop.example/login?${new URLSearchParams({ a: '1' }).toString()}&email=${encodeURIComponent("ada.o'brien@mail.example")}&key=${token}`,
  ],
  [
    'the name of a team, in its path',
    'You are invited to join',
    `Join here:\nhttps://app.shop.example/join/${encodeURIComponent("ada's")}/${token}`,
  ],
  [
    'brackets in Markdown',
    'Your sign-in link',
    `[Sign in](https://app.shop.example/t/${encodeURIComponent('ada(2)')}/login?key=${token})`,
  ],
]

test.each(cases)('%s', async (_, subject, text) => {
  const box = await openMailbox(product)
  await box.receive({
    from: 'Shop <no-reply@shop.example>',
    subject,
    text,
    authenticated: 'shop.example',
  })

  const mail = await box.newest()

  expect(mail.untrusted.text?.text).not.toContain(token)
})
