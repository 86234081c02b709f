/**
 * A code or password is sealed next to any name that a member chose. Honest mails of a site hold the
 * name of a workspace, a device or the member itself, whatever it sounds like.
 */
import { expect, test } from 'vitest'
import { sealPlaces } from '../../shared/mailbox/codes/code-places.ts'
import { findCodes } from '../../shared/mailbox/codes/codes.ts'

function sealed(text: string, subject: string) {
  return sealPlaces(text, findCodes({ subject, texts: [text] }).texts[0] ?? [], () => 'x')
}

const templates: [template: string, secret: string][] = [
  ['Your verification code for {name}: {code}', '482913'],
  ['Your verification code for {name} is {code}.', '482913'],
  ['Your login code for {name} is ready:\n\n{code}\n', '482913'],
  ['Enter this code on {name}: {code}', '482913'],
  ['{name}: {code} is your login code', '482913'],
  ['{name} - {code} is your login code', '482913'],
  ['{code} is your login code for {name}', '482913'],
  ['Your verification code for\n\n{name}\n\n{code}\n\nIt is good for ten minutes.', '482913'],
  ['Here is your login code.\n\n{name}: {code}\n', '482913'],
  ['Here is your login code for {name}.\n\n{code}\n', '482913'],
  ['Your {name} login code is {code}', '482913'],
  ['Hi {name}, your code is {code}', '482913'],
  ['Hi {name},\n\n{code}\n\nis your code.', '482913'],
  ['Your temporary password for {name} is {code}', 'Xk9#mQ2!vT'],
  ['Your password for {name}: {code}', 'Xk9#mQ2!vT'],
  ['Your password for {name}: {code}', '48291377'],
  ['API key "{name}" was made: {code}', 'q8Zk2Lw9Xv4T'],
  ['Recovery code of {name}: {code}', 'ab1cd-ef2gh'],
]

/** Names that sound like other numbers, end a sentence, contain a number, or are long. */
const names = [
  'Ada',
  'invoice',
  'Invoice no.',
  'order #',
  'Order',
  'promo code',
  'promo',
  'x'.repeat(300),
  'account',
  'User',
  'valid until',
  'Team number',
  'Acme. Order',
  'code 111111 invoice',
  'Invoice: 111111, order',
  '111111',
  'Total: $',
  'a, tracking number',
  'Room',
  'date',
]

const cases = templates.flatMap(([template, secret]) =>
  names.map((name) => [name, template, secret] as const),
)

test.each(cases)('called %j, nobody reads what %j tells', (name, template, secret) => {
  const text = template.replace('{name}', () => name).replace('{code}', () => secret)

  const [told, toldUnderCode] = [sealed(text, 'Hello'), sealed(text, 'Your sign-in code')]

  expect([told, toldUnderCode].filter((one) => one.includes(secret))).toEqual([])
})

test('a code is sealed that is said to be one for promotions, where the subject is of signing in', () => {
  expect(sealed('Your promo code is 482913', 'Your sign-in code')).not.toContain('482913')
  expect(sealed('Your promo code is 482913', 'Ten percent off')).toContain('482913')
})
