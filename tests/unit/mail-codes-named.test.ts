/** The value after the name of a secret is sealed, whatever its characters, length and case. */
import { expect, test } from 'vitest'
import { sealPlaces } from '../../shared/mailbox/codes/code-places.ts'
import { findCodes } from '../../shared/mailbox/codes/codes.ts'

const placesIn = (text: string, subject = '') =>
  findCodes({ subject, texts: [text] }).texts[0] ?? []
const sealed = (text: string, subject = '') =>
  sealPlaces(text, placesIn(text, subject), ({ kind }) => kind[0] ?? '')

test.each([
  ['Your temporary password is: Xk9#mQ2!vT', 'Xk9#mQ2!vT'],
  ['The user name is ada and the temporary password is N]c8v(Wq.', 'N]c8v(Wq.'],
  ['login code: faint-mossy-tidal-grove', 'faint-mossy-tidal-grove'],
  ['Your confirmation code is KDF-QWE', 'KDF-QWE'],
  ['Your code is QwKfZp.', 'QwKfZp'],
  ['Your code is qwkfzp', 'qwkfzp'],
  ['Your login code:\n\nqwkfzp\n\nIt expires soon.', 'qwkfzp'],
  ['Reset token: 8d3f0a7c9e1b2d4f', '8d3f0a7c9e1b2d4f'],
  ['Your code is 482.913', '482.913'],
  ['Your code: 482_913', '482_913'],
  ['Your code: 4•8•2•9•1•3', '4•8•2•9•1•3'],
  ['Your code: [4][8][2][9][1][3]', '[4][8][2][9][1][3]'],
  ['Verification code: 482913482913', '482913482913'],
  ['Your key is here: sk_live_4eC39HqLyjWDarjtT1zdp7dc', 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'],
  ['API key = a8-B9.c0_d1', 'a8-B9.c0_d1'],
  ['Passwort: hunter', 'hunter'],
  ['Mot de passe : été#12', 'été#12'],
  ['Tu contraseña es: Ñandú-7', 'Ñandú-7'],
  ['Ваш пароль: Пароль#12', 'Пароль#12'],
  ['您的密码是 aB3$xY', 'aB3$xY'],
  ['パスワードは「aB3$xY」です', 'aB3$xY'],
  ['Recovery phrase: able baker charlie delta', 'able baker charlie delta'],
  ['QwKfZp is your login code', 'QwKfZp'],
  ['Hi, qwKfZp is the code to sign in', 'wKfZp'],
  ['Recovery codes: ab1cd-ef2gh, ij3kl-mn4op and qr5st-uv6wx', 'qr5st'],
  ['Your recovery codes\n\nab1cd-ef2gh ij3kl-mn4op\nqr5st-uv6wx yz7ab-cd8ef', 'cd8ef'],
  ['Enter WDJB-MJHT at the site to approve this device', 'WDJB'],
  ['Your code is below.\nSign-in: faint-mossy-tidal-grove', 'mossy'],
  ['Access pass to sign in: F}OrWQ]Mw[ts5j', 'OrWQ'],
  ['A ONE-TIME CODE WAS MADE\n--------\nqwkfzp\n--------\nKeep it to yourself.', 'qwkfzp'],
  ['비밀번호: qwkfzp', 'qwkfzp'],
  ['인증번호 [482913]를 입력하세요.', '482913'],
  ['كلمة المرور: Xk9#mQ', 'Xk9#mQ'],
  ['הסיסמה שלך היא: Xk9#mQ', 'Xk9#mQ'],
  ['पासवर्ड: Xk9#mQ', 'Xk9#mQ'],
  ['รหัสยืนยันของคุณคือ: e2ca6e07', 'e2ca6e07'],
  ['Mã xác thực của bạn là e2ca6e07', 'e2ca6e07'],
  ['Ditt lösenord är Xk9mQ2vT', 'Xk9mQ2vT'],
  ['Vaše heslo je Xk9mQ2vT', 'Xk9mQ2vT'],
  ['Ο κωδικός σας είναι e2ca6e07', 'e2ca6e07'],
  ['Client secret - Xk9#mQ2!vT', 'Xk9#mQ'],
])('of %j nothing of the secret is left', (text, secret) => {
  expect(sealed(text)).not.toContain(secret)
  expect(sealed(text).replace(/\[code c\]/, '')).not.toMatch(/\d|#|QwK|qwk/)
})

test('words in capitals that tell how often a code is good are no code', () => {
  const text = 'A ONE-TIME CODE was made for you: 482913'

  expect(sealed(text)).toBe('A ONE-TIME CODE was made for you: [code c]')
})

test.each([
  ['Bokning bekräftad', 'Börjar: 2026-11-26 10:00\nBokningsnummer:\n9733 6641'],
  ['Transfer confirmed', 'Causale:\naffitto\nGiao dịch\n9751 0312'],
  ['Your password was changed', 'Salasana on vaihdettu.\nIP: 203.0.113.88'],
  ['Confirm your order', 'IBAN GB55NWBK00583182552823'],
])('of a mail about %j the values of labels that name no secret are left: %j', (subject, text) => {
  expect(sealed(text, subject)).toBe(text)
})

test('what is entered is the secret without the mark that ends its sentence', () => {
  const [place] = placesIn('Your code is QwKfZp.')

  expect(place).toMatchObject({ kind: 'code', value: 'QwKfZp' })
})

test('a password in one text is sealed in all others as it is written', () => {
  const texts = ['Your password is Xk9#mQ2!vT', 'Welcome. Xk9#mQ2!vT']

  const [, other = []] = findCodes({ subject: '', texts }).texts

  expect(sealPlaces(texts[1] ?? '', other, () => 'c')).toBe('Welcome. [code c]')
})

test('every line of a list of codes is sealed, whatever its form', () => {
  const text = 'Your recovery codes:\n\n1. abcd-efgh-ijkl-mnop\n2. Xk9#mQ2!\n3. 48291\n\nKeep them.'

  expect(sealed(text)).toBe(
    'Your recovery codes:\n\n1. [code c]\n2. [code c]\n3. [code c]\n\nKeep them.',
  )
})

test.each([
  'Your password is required. Your code is valid for ten minutes.',
  'Never share your password with anyone, and change your password often.',
  'Forgot your password? Write to help@shop.example or see the help pages.',
  'Dress code: casual. Promo code: SAVE20. Area code: 0482.',
  'The key is patience. Key dates: Friday and Monday.',
  'Your code has six digits. Enter this 6-digit code to log in.',
  'Your password is not safe any more, please change it today.',
  'Use this link to log in: https://shop.example/help',
  'Enter this code to log in to 3Bridges on your iPhone.',
])('%j has no secret', (text) => {
  expect(sealed(text)).toBe(text)
})

test.each([
  'code ',
  'code: x ',
  'key=',
  'password\n',
  'code is Xk9# ',
  'sk_live_',
  ': \n',
  'is is ',
  'รหัส ',
  'login\npassword ab-cd\n',
  'https://a.example/b](',
])('nothing that looks drawn is left in a mail full of %j, which takes no minutes', (unit) => {
  // Length that is kept of a text.
  const text = `${unit.repeat(Math.ceil(258_000 / unit.length))} code Xk9#mQ2!vT`

  const { texts } = findCodes({ subject: 'Your code', texts: [text, text] })

  expect(sealPlaces(text, texts[0] ?? [], () => 'c')).not.toContain('Xk9#mQ2!vT')
})

const lines = (count: number, seed: number) =>
  Array.from({ length: count }, (_, line) =>
    Buffer.from(`${seed} ${line} `.repeat(12)).toString('base64').replaceAll('=', '').slice(0, 64),
  )

test.each([
  ['of which there are 150', 150, 'PRIVATE KEY', '', 3],
  [
    'with lines above it that tell how it is sealed',
    1,
    'RSA PRIVATE KEY',
    'Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n',
    8,
  ],
  ['of PGP', 1, 'PGP PRIVATE KEY BLOCK', 'Version: GnuPG v2\nComment: a key\n\n', 8],
  ['that is long', 1, 'PGP PRIVATE KEY BLOCK', '', 900],
])('of a private key %s nothing is left', (_, count, name, above, length) => {
  const keys = Array.from({ length: count }, (_key, at) => lines(length, at))
  const text = keys
    .map((key) => `-----BEGIN ${name}-----\n${above}${key.join('\n')}\n-----END ${name}-----\n`)
    .join('\n')

  const shown = sealed(text)

  expect(keys.flat().filter((line) => shown.includes(line))).toEqual([])
  expect(shown).toContain('PRIVATE KEY')
})
