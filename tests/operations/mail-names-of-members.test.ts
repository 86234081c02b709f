/**
 * Codes of mails are sealed. An honest site's mail names what its member named: a workspace, a device, a
 * shop. An agent that is a member there calls it so that the code behind the name is taken for another number,
 * or so long that the name of the code is out of reach.
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
