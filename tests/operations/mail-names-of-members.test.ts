/**
 * Codes in mails are sealed next to names that a member chose. An honest site's mail names a workspace,
 * a device or a shop of its member. An agent who is a member can choose a name that makes the code look
 * like another number, or one so long that the word for the code is out of reach.
 */
import { expect, test } from 'vitest'
import { openMailbox } from '../support/mailbox.ts'
import { start } from '../support/world.ts'

const product = await start()
const templates: [string, string][] = [
  ['Your verification code for {name}: {code}', '482913'],
  ['Your verification code for {name} is {code}.', '482913'],
  ['Enter this code on {name}: {code}', '482913'],
  ['Your temporary password for {name} is {code}', 'Xk9#mQ2!vT'],
  ['Your password for {name}: {code}', 'Xk9#mQ2!vT'],
]
const names = ['invoice', 'Invoice no.', 'order #', 'Order', 'promo code', 'x'.repeat(300)]

const cases = templates.flatMap(([template, code]) =>
  ['Ada', ...names].map((name) => [name, template, code] as const),
)

test.each(cases)('what is called %j does not unseal %j', async (name, template, code) => {
  const box = await openMailbox(product)
  const text = template.replace('{name}', name).replace('{code}', code)
  const from = 'Shop <no-reply@shop.example>'
  await box.receive({ from, subject: 'Your sign-in code', text, authenticated: 'shop.example' })

  const mail = await box.newest()

  expect(mail.untrusted.text?.text).not.toContain(code)
})
