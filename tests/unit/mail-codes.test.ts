import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sealPlaces } from '../../shared/mailbox/codes/code-places.ts'
import { findCodes } from '../../shared/mailbox/codes/codes.ts'
import { foldText } from '../../shared/mailbox/codes/folded-text.ts'

const found = (text: string, subject = '') =>
  (findCodes({ subject, texts: [text] }).texts[0] ?? []).map(({ value }) => value)
const sealed = (text: string, subject = '') =>
  sealPlaces(
    text,
    findCodes({ subject, texts: [text] }).texts[0] ?? [],
    ({ kind }) => kind[0] ?? '',
  )

test.each([
  ['Your verification code is 482913.', '482913'],
  ['482913 is your verification code', '482913'],
  ['G-482913 is your Acme verification code.', 'G-482913'],
  ['Your code is:\n\n482 913\n\nIt expires soon.', '482913'],
  ['Your code: 482-913', '482913'],
  ['Security code: 4821 (valid for 10 minutes)', '4821'],
  ['Your device code\n\nA1B2-C3D4', 'A1B2-C3D4'],
  ['Verification code: BKXPRT', 'BKXPRT'],
  ['Your login code is 7K3QX9', '7K3QX9'],
  ['code: ４８２９１３', '482913'],
  ['code: ٤٨٢٩١٣', '482913'],
  ['code: ४८२९१३', '482913'],
  ['code: 𝟒𝟖𝟐𝟗𝟏𝟑', '482913'],
  ['code:\n4\n8\n2\n9\n1\n3\n', '482913'],
  ['code: 4\u00a08\u20092 9 1 3', '482913'],
  ['code: 482\u200b913', '482913'],
  ['Use 482913 to sign in.', '482913'],
  ['**482913**\nEnter this number to log in.', '482913'],
  ['Your security code for the Acme Customer Portal is 482913', '482913'],
  ['Order 55512345: to cancel it, enter the one-time password 482913', '482913'],
  [
    'This is the long sentence of a wrapped mail with your code\n482913 in its second line',
    '482913',
  ],
  ['Le code de vérification est le 48 29 13', '482913'],
  ['PIN-код: 4829', '4829'],
  ['验证码：482913，5分钟内有效', '482913'],
  ['認証コードは482913です', '482913'],
])('finds the code in %j', (text, value) => {
  expect(found(text)).toEqual([value])
})

test.each([
  'Order number: 48291357. Invoice 2026-4829. Customer 8829134.',
  'Your postal code is 48291, your area code 0482, your promo code SAVE20.',
  'Total: 4,829.13 EUR or 4829 kr, VAT 4829.13, that is 4829%.',
  'Call 0800 482 9134 or +1 (555) 482-9134 before 2026-11-22 10:48.',
  'It was 22 November 2026. © 2026 Acme. Version 10.4829.1. See 192.0.2.48.',
  'IBAN DE48 2913 4829 1348 2913 48, card **** 4829, card ending in 4829.',
  'Error code 4829 in build 482913, ticket #482913.',
  'The code of conduct has 4829 words.\n\nIn 2026 we had 48291 readers.',
  'Parcel 1Z999AA10123456784 or 482913482913482913 arrives.',
  'We sold 482913 tickets.',
  'Mail ada482913@example.com about room 4829.',
  'Bestellnummer 482913, Postleitzahl 48291, Gutscheincode: HERBST25',
  '订单号482913，邮编482913，金额4829元',
  '注文番号 482913 〒482-9134 クーポンコード SAVE20',
])('finds no code in %j', (text) => {
  expect(found(text)).toEqual([])
})

test('finds every code of a list', () => {
  const text = 'Your recovery codes:\n1234-5678\n2345-6789\n3456-7890\n\nKeep them safe.'
  expect(sealed(text)).toBe('Your recovery codes:\n[code c]\n[code c]\n[code c]\n\nKeep them safe.')
})

test('finds a code in every text of a mail when one of them gives it away', () => {
  const link = 'https://acme.example/#482913'
  const { subject, texts } = findCodes({
    subject: '482 913',
    texts: ['Your verification code is 482913', `Thanks! 482-913 ${link}`],
  })

  expect(subject).toMatchObject([{ start: 0, end: 7, value: '482913' }])
  expect(texts.map((places) => places.map(({ kind, start }) => [kind, start]))).toEqual([
    [['code', 26]],
    [
      ['code', 8],
      ['code', 38],
    ],
  ])
})

test('leaves no piece of a code that begins within a link', () => {
  const text = 'Your code is 482 913. https://acme.example/verify?token=kJ8sD0fLq2Zx9VbN-482 913'
  expect(sealed(text)).toBe('Your code is [code c]. [link l]')
})

describe('links', () => {
  const token = 'kJ8sD0fLq2Zx9VbN4mTr'
  test.each([
    `https://acme.example/verify?token=${token}`,
    `https://acme.example/magic/${token}`,
    `https://acme.example/x#id_token=eyJhbGciOi.eyJzdWIiOi.${token}`,
    `acme://login?otp=482913`,
    `www.acme.example/reset/${token}`,
  ])('%s signs in by itself', (link) => {
    expect(found(`Hello, here it is: ${link}.`)).toEqual([link])
    expect(sealed(`[Open](${link}) now`)).toBe('[Open]([link l]) now')
  })

  test('a link that a tracker hides signs in when the words around it say so', () => {
    const link = `https://click.mailer.example/ls/${token}`
    expect(found(`Confirm your address: ${link}`)).toEqual([link])
    expect(found(link, 'Sign in to Acme')).toEqual([link])
    expect(found(`Read more: ${link}`, 'News of the week')).toEqual([])
  })

  test.each([
    'Sign in here: https://acme.example/l/MqwCq8az',
    'Confirm your address.\n\nhttps://go.acme.example/Xb7TqPz',
    'Join the team: https://acme.example/j?c=kQ7ZtWx',
  ])('a short one that the words point at is sealed: %j', (text) => {
    expect(sealed(text, 'Confirm your address')).toMatch(/\[link l\]$/)
  })

  test.each([
    'News: https://acme.example/l/MqwCq8az',
    'Sign in, then read https://acme.example/HelpCenter or https://acme.example/Windows11',
  ])('a short one that leads to a page is not: %j', (text) => {
    expect(sealed(text)).toBe(text)
  })

  test.each([
    `Unsubscribe: https://acme.example/u/${token}`,
    `https://acme.example/unsubscribe?u=${token}`,
    'Verify it at https://acme.example/help/sign-in',
    'https://acme.example/news/2026/11/how-to-confirm-that-all-is-well',
  ])('%s does not sign in', (text) => {
    expect(found(text, 'Confirm your address')).toEqual([])
  })

  test('ends before the sentence goes on', () => {
    const link = `https://acme.example/verify?token=${token}`
    expect(sealed(`(${link}), 点击${link}，${link}`)).toBe('([link l]), 点击[link l]，[link l]')
  })
})

test('places lie in order and apart, and hold what they say, for any text', () => {
  const words = 'code is : 482913 4829 - A1B2 12:30 € order 验证码 ) ]( 4 ٤ \u200b 😀 2026'.split(
    ' ',
  )
  const link = 'https://a.example/verify?token=kJ8sD0fLq2Zx9VbN4'
  const piece = fc.constantFrom(...words, link, ' ', '\n')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.array(piece, { maxLength: 6 }), (a, b) => {
      const text = a.join('')
      const { texts } = findCodes({ subject: b.join(''), texts: [text] })
      let last = 0
      for (const { start, end, value, kind } of texts[0] ?? []) {
        expect(start).toBeGreaterThanOrEqual(last)
        expect(end).toBeGreaterThan(start)
        const written = text.slice(start, end)
        const signs = foldText(written).text.replaceAll(/[^a-z0-9]/g, '')
        if (kind === 'link') expect(written).toContain(value)
        else expect(signs).toContain(value.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
        last = end
      }
    }),
    { numRuns: 1_000 },
  )
})

test('takes time in proportion to the length', () => {
  for (const unit of [
    '4829 ',
    'code 482913 ',
    '4 ',
    'a.',
    '1.',
    'x@',
    '482913\n',
    'https://a/',
    '1 1',
  ]) {
    found(unit.repeat(Math.floor(200_000 / unit.length)))
  }
}, 20_000)
