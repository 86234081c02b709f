/** While a login is in use, codes in mails of its site are found by their form, without any words. */
import { expect, test } from 'vitest'
import { findCodes } from '../../shared/mailbox/codes/codes.ts'
import { mailboxOf } from '../support/mailbox.ts'
import { entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const product = await start()

/** Returns the text of a mail that names no code, in an account with a login that was just used. */
async function readMail(letter: { from: string; authenticated?: string }, secondsLater = 0) {
  const agent = await product.agent('pay')
  const box = mailboxOf(product, agent)
  const given = { site: 'https://www.shop.example', username: 'ada', password: 'Canary-1 horse' }
  const entry = await entryOf(product, agent, given)
  await product.db.sql`update private.vault_entries set last_used_at = private.clock()
    where id = ${entry}`
  await product.tick(secondsLater)
  await box.receive({ subject: 'Hello Ada', text: 'Good morning, Kx7-29p', ...letter })
  return (await box.newest()).untrusted.text?.text
}
const own = { from: 'no-reply@mail.shop.example', authenticated: 'shop.example' }

test('what has the form of a code is sealed without a word about it', async () => {
  expect(await readMail(own)).toMatch(/^Good morning, \[code c_\w+, 6 characters\]\n$/)
})

test.each([
  ['half an hour later', own, 1_801],
  ['of another site', { from: 'a@other.example', authenticated: 'other.example' }, 0],
  ['that nothing proves', { from: 'a@shop.example' }, 0],
])('a mail %s is read by words', async (_, letter, seconds) => {
  expect(await readMail(letter, seconds)).toBe('Good morning, Kx7-29p\n')
})

const foundIn = (text: string) => {
  const [places = []] = findCodes({ subject: 'Hello', texts: [text], isInUse: true }).texts
  return places.map(({ value }) => value)
}

test.each([
  ['Hi Ada,\n\n482913\n\nBye', '482913'],
  ['Hi, 4829 it is', '4829'],
  ['2026', '2026'],
  ['482 913', '482913'],
  ['4 8 2 9 1 3', '482913'],
  ['KDF-QWE', 'KDF-QWE'],
  ['BKXPRT', 'BKXPRT'],
  ['Take N]c8v(Wq and go', 'N]c8v(Wq'],
  ['https://shop.example/x/kJ8sD0fLq2Zx9VbN4mTr', 'https://shop.example/x/kJ8sD0fLq2Zx9VbN4mTr'],
])('the form alone seals the secret in %j', (text, value) => {
  expect(foundIn(text)).toEqual([value])
})

test.each([
  'Dear Ada, since 2026 we sell BOOKS and Well-known games at https://shop.example/games.',
  'Opened on 22 November 2026 at 10:48, for 49.90 EUR. Call +49 30 1234567.',
])('ordinary words, dates and amounts stay: %j', (text) => {
  expect(foundIn(text)).toEqual([])
})
